"""Records a small network of DDColor's form, and the colors that PyTorch computes.

    python record.py

Like DDColor, it takes three equal channels of gray in 0…1 and returns a and b. Its decoder shuffles
pixels; color queries attend to the features, and their products with the pixels become colors.
"""

from pathlib import Path

import h5py
import numpy
import skimage.color
import torch
from torch import nn

HERE = Path(__file__).parent
SIDE = 64


class Encoder(nn.Module):
    """Features of a quarter and of an eighth of the size."""

    def __init__(self, width):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 4, stride=4)
        self.norm = nn.GroupNorm(1, width)
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.expand = nn.Conv2d(width, 2 * width, 1)
        self.project = nn.Conv2d(2 * width, width, 1)
        self.down = nn.Conv2d(width, width, 2, stride=2)

    def forward(self, x):
        x = self.norm(self.stem(x))
        x = x + self.project(nn.functional.gelu(self.expand(self.depthwise(x))))
        return x, self.down(x)


class Attention(nn.Module):
    """Color queries attend to the features."""

    def __init__(self, width, heads=2):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.feed = nn.Sequential(
            nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, queries, features):
        tokens = features.flatten(2).transpose(1, 2)
        attended, _ = self.attention(queries, tokens, tokens, need_weights=False)
        queries = self.norm(queries + attended)
        return queries + self.feed(queries)


class SmallDDColor(nn.Module):
    """Three channels of gray in 0…1 in, a and b out."""

    def __init__(self, width=16, queries=8):
        super().__init__()
        self.encoder = Encoder(width)
        self.queries = nn.Parameter(torch.randn(queries, width))
        self.decoder = Attention(width)
        self.shuffle = nn.Sequential(nn.Conv2d(width, 4 * width, 1), nn.PixelShuffle(2))
        self.up = nn.Sequential(nn.Conv2d(width, 16 * width, 1), nn.PixelShuffle(4))
        self.refine = nn.Conv2d(queries + 3, 2, 1)
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1))
        self.register_buffer("deviation", torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1))

    def forward(self, gray):
        x = (gray - self.mean) / self.deviation
        fine, coarse = self.encoder(x)
        queries = self.queries.unsqueeze(0).expand(gray.shape[0], -1, -1)
        queries = self.decoder(queries, coarse)
        pixels = self.up(torch.relu(self.shuffle(coarse) + fine))
        colors = torch.einsum("bqc,bchw->bqhw", queries, pixels)
        return 20 * self.refine(torch.cat([colors, x], 1))


def main():
    torch.manual_seed(5)
    network = SmallDDColor().eval()
    torch.onnx.export(
        network, (torch.rand(1, 3, SIDE, SIDE),), HERE / "ddcolor.onnx", opset_version=18,
        input_names=["gray"], output_names=["ab"], dynamo=False)

    rows, columns = numpy.mgrid[:SIDE, :SIDE]
    lightness = (20 + rows + 15 * (columns // 8 % 2)).astype(numpy.float32)
    zeros = numpy.zeros_like(lightness)
    gray = skimage.color.lab2rgb(numpy.stack([lightness, zeros, zeros], -1)).astype(numpy.float32)
    with torch.no_grad():
        ab = network(torch.from_numpy(gray).permute(2, 0, 1)[None])
    with h5py.File(HERE / "ddcolor.h5", "w") as file:
        file["inputs/lightness"] = lightness[None, None]
        file["outputs/ab"] = ab.numpy()
    print(float(ab.min()), float(ab.max()), float(ab.std()))


if __name__ == "__main__":
    main()
