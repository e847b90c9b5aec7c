"""Networks as people have them, with seeded random weights: a list of names and how to make each.

Those of torchvision, timm and segmentation-models-pytorch are made by their libraries; generators,
restoration, colorizers, audio, text and video are defined here in their published forms, smaller.
"""

import contextlib
import dataclasses
import typing

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass(frozen=True)
class Network:
    """A network's name, what makes it, and the shapes of its inputs."""

    name: str
    make: typing.Callable
    shapes: tuple = ((1, 3, 64, 64),)
    # Inputs of indices below this number, in place of normally distributed values.
    vocabulary: int | None = None

    def module(self, seed):
        torch.manual_seed(seed)
        module = self.make()
        settle(module, self.inputs(seed + 1))
        return module.eval()

    def inputs(self, seed):
        random = torch.Generator().manual_seed(seed)
        if self.vocabulary:
            return tuple(torch.randint(0, self.vocabulary, shape, generator=random,
                                       dtype=torch.int32) for shape in self.shapes)
        return tuple(torch.randn(shape, generator=random) for shape in self.shapes)


def settle(module, inputs):
    """Gives batch normalizations the statistics of a batch, as training would, and parameters that
    begin at zero other values."""
    for parameter in module.parameters():
        if parameter.abs().max() < 1e-3:
            nn.init.normal_(parameter, std=0.05)
    norms = [part for part in module.modules()
             if isinstance(part, nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    module.eval()
    hooks = [norm.register_forward_pre_hook(statistics) for norm in norms]
    with torch.no_grad():
        module(*inputs)
    for hook in hooks:
        hook.remove()


def statistics(norm, inputs):
    (x,) = inputs
    axes = [axis for axis in range(x.dim()) if axis != 1]
    norm.running_mean.copy_(x.mean(axes))
    if x.numel() // x.shape[1] > 1:
        norm.running_var.copy_(x.var(axes, unbiased=False).clamp(min=1e-3))


# Restoration and super-resolution


class Espcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 64, 5, padding=2), nn.Tanh(), nn.Conv2d(64, 32, 3, padding=1), nn.Tanh(),
            nn.Conv2d(32, 27, 3, padding=1), nn.PixelShuffle(3), nn.Sigmoid())

    def forward(self, x):
        return self.body(x)


class DnCnn(nn.Module):
    def __init__(self, width=32, depth=8):
        super().__init__()
        layers = [nn.Conv2d(3, width, 3, padding=1), nn.ReLU()]
        for _ in range(depth):
            layers += [nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width),
                       nn.ReLU()]
        self.body = nn.Sequential(*layers, nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, x):
        return x - self.body(x)


class LayerNorm2d(nn.Module):
    """NAFNet's: over the channels of each pixel, as its formula."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(width))
        self.bias = nn.Parameter(0.1 * torch.randn(width))

    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        variance = (x - mean).pow(2).mean(1, keepdim=True)
        y = (x - mean) / (variance + 1e-6).sqrt()
        return self.weight.view(1, -1, 1, 1) * y + self.bias.view(1, -1, 1, 1)


class NafBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = LayerNorm2d(width), LayerNorm2d(width)
        self.conv1 = nn.Conv2d(width, 2 * width, 1)
        self.conv2 = nn.Conv2d(2 * width, 2 * width, 3, padding=1, groups=2 * width)
        self.attention = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, width, 1))
        self.conv3 = nn.Conv2d(width, width, 1)
        self.conv4 = nn.Conv2d(width, 2 * width, 1)
        self.conv5 = nn.Conv2d(width, width, 1)
        self.beta = nn.Parameter(0.1 * torch.randn(1, width, 1, 1))
        self.gamma = nn.Parameter(0.1 * torch.randn(1, width, 1, 1))

    @staticmethod
    def gate(x):
        a, b = x.chunk(2, dim=1)
        return a * b

    def forward(self, x):
        y = self.gate(self.conv2(self.conv1(self.norm1(x))))
        x = x + self.beta * self.conv3(y * self.attention(y))
        return x + self.gamma * self.conv5(self.gate(self.conv4(self.norm2(x))))


class NafNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.intro, self.ending = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3, 3,
                                                                               padding=1)
        self.encoders = nn.ModuleList(NafBlock(width << step) for step in range(3))
        self.downs = nn.ModuleList(
            nn.Conv2d(width << step, width << (step + 1), 2, 2) for step in range(3))
        self.middle = NafBlock(width << 3)
        self.ups = nn.ModuleList(
            nn.Sequential(nn.Conv2d(width << (step + 1), width << (step + 2), 1, bias=False),
                          nn.PixelShuffle(2)) for step in range(3))
        self.decoders = nn.ModuleList(NafBlock(width << step) for step in range(3))

    def forward(self, x):
        y, skips = self.intro(x), []
        for encoder, down in zip(self.encoders, self.downs):
            y = encoder(y)
            skips.append(y)
            y = down(y)
        y = self.middle(y)
        for up, decoder, skip in zip(self.ups[::-1], self.decoders[::-1], skips[::-1]):
            y = decoder(up(y) + skip)
        return self.ending(y) + x


class DenseBlock(nn.Module):
    """ESRGAN's residual dense block."""

    def __init__(self, width=32, growth=16):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv2d(width + step * growth, growth if step < 4 else width, 3, padding=1)
            for step in range(5))

    def forward(self, x):
        values = [x]
        for layer in self.layers[:-1]:
            values.append(functional.leaky_relu(layer(torch.cat(values, 1)), 0.2))
        return x + 0.2 * self.layers[-1](torch.cat(values, 1))


class Esrgan(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3, 3,
                                                                             padding=1)
        self.body = nn.Sequential(DenseBlock(), DenseBlock(), nn.Conv2d(width, width, 3,
                                                                        padding=1))
        self.up1, self.up2 = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))

    def forward(self, x):
        x = self.first(x)
        x = x + self.body(x)
        for layer in (self.up1, self.up2):
            x = functional.interpolate(x, scale_factor=2, mode="nearest")
            x = functional.leaky_relu(layer(x), 0.2)
        return self.last(x)


class WindowAttention(nn.Module):
    """SwinIR's: attention inside windows, with a bias by relative position."""

    def __init__(self, width=32, heads=4, window=8):
        super().__init__()
        self.heads, self.window = heads, window
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.table = nn.Parameter(0.02 * torch.randn((2 * window - 1) ** 2, heads))
        places = torch.stack(torch.meshgrid(
            torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        offsets = places[:, :, None] - places[:, None] + window - 1
        self.register_buffer("index", offsets[0] * (2 * window - 1) + offsets[1])
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        n, c, h, w = x.shape
        size, heads = self.window, self.heads
        x = x.view(n, c, h // size, size, w // size, size).permute(0, 2, 4, 3, 5, 1)
        x = x.reshape(-1, size * size, c)
        qkv = self.qkv(self.norm1(x)).view(-1, size * size, 3, heads, c // heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q * (c // heads) ** -0.5) @ k.transpose(-2, -1)
        bias = self.table[self.index.flatten()].view(size * size, size * size, heads)
        weights = (weights + bias.permute(2, 0, 1)[None]).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(-1, size * size, c))
        x = x + self.mlp(self.norm2(x))
        x = x.view(n, h // size, w // size, size, size, c).permute(0, 5, 1, 3, 2, 4)
        return x.reshape(n, c, h, w)


class SwinIr(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.body = nn.Sequential(WindowAttention(width), WindowAttention(width))
        self.last = nn.Sequential(nn.Conv2d(width, 12, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, x):
        x = self.first(x)
        return self.last(x + self.body(x))


# Generators


class Eccv16Rgb(nn.Sequential):
    """The layers of ECCV16 for three channels in and out."""

    # Channels, convolutions, stride of the last one, and dilation.
    BLOCKS = ((64, 2, 2, 1), (128, 2, 2, 1), (256, 3, 2, 1), (512, 3, 1, 1), (512, 3, 1, 2),
              (512, 3, 1, 2), (512, 3, 1, 1))

    def __init__(self):
        layers, channels = [], 3
        for outputs, count, stride, dilation in self.BLOCKS:
            for index in range(count):
                step = stride if index == count - 1 else 1
                layers += [nn.Conv2d(channels, outputs, 3, step, dilation, dilation), nn.ReLU()]
                channels = outputs
            layers.append(nn.BatchNorm2d(outputs))
        super().__init__(
            *layers, nn.ConvTranspose2d(512, 256, 4, 2, 1), nn.ReLU(),
            nn.Conv2d(256, 256, 3, 1, 1), nn.ReLU(), nn.Conv2d(256, 256, 3, 1, 1), nn.ReLU(),
            nn.Conv2d(256, 313, 1), nn.Softmax(1), nn.Conv2d(313, 3, 1, bias=False),
            nn.Upsample(scale_factor=4, mode="bilinear"))


class Pix2Pix(nn.Module):
    """A U-Net of strided and transposed convolutions."""

    def __init__(self, width=16):
        super().__init__()
        self.downs = nn.ModuleList(
            nn.Sequential(nn.LeakyReLU(0.2) if step else nn.Identity(),
                          nn.Conv2d(3 if step == 0 else width << (step - 1), width << step, 4, 2,
                                    1),
                          nn.BatchNorm2d(width << step) if step else nn.Identity())
            for step in range(4))
        self.ups = nn.ModuleList(
            nn.Sequential(nn.ReLU(), nn.ConvTranspose2d(
                (width << step) * (1 if step == 3 else 2),
                width << (step - 1) if step else 3, 4, 2, 1),
                nn.BatchNorm2d(width << (step - 1)) if step else nn.Tanh())
            for step in range(4))

    def forward(self, x):
        skips = []
        for down in self.downs:
            x = down(x)
            skips.append(x)
        x = self.ups[3](x)
        for up, skip in zip(self.ups[2::-1], skips[2::-1]):
            x = up(torch.cat([x, skip], 1))
        return x


class CycleGan(nn.Module):
    """Johnson's generator: reflected borders, instance normalization, residual blocks."""

    def __init__(self, width=16):
        super().__init__()
        layers = [nn.ReflectionPad2d(3), nn.Conv2d(3, width, 7), nn.InstanceNorm2d(width),
                  nn.ReLU()]
        for step in (1, 2):
            layers += [nn.Conv2d(width * step, width * step * 2, 3, 2, 1),
                       nn.InstanceNorm2d(width * step * 2), nn.ReLU()]
        layers += [ResidualBlock(width * 4) for _ in range(3)]
        for step in (2, 1):
            layers += [nn.ConvTranspose2d(width * step * 2, width * step, 3, 2, 1,
                                          output_padding=1),
                       nn.InstanceNorm2d(width * step), nn.ReLU()]
        self.body = nn.Sequential(*layers, nn.ReflectionPad2d(3), nn.Conv2d(width, 3, 7),
                                  nn.Tanh())

    def forward(self, x):
        return self.body(x)


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.ReflectionPad2d(1), nn.Conv2d(width, width, 3), nn.InstanceNorm2d(width), nn.ReLU(),
            nn.ReplicationPad2d(1), nn.Conv2d(width, width, 3), nn.InstanceNorm2d(width))

    def forward(self, x):
        return x + self.body(x)


class StyleBlock(nn.Module):
    """Adaptive instance normalization by a style, and noise of constant values."""

    def __init__(self, inputs, outputs, style=32):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm = nn.InstanceNorm2d(outputs)
        self.style = nn.Linear(style, 2 * outputs)

    def forward(self, x, style):
        x = functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        scale, shift = self.style(style)[:, :, None, None].chunk(2, 1)
        return functional.leaky_relu(self.norm(self.conv(x)) * (1 + scale) + shift, 0.2)


class StyleGenerator(nn.Module):
    def __init__(self):
        super().__init__()
        self.mapping = nn.Sequential(
            nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2))
        self.start = nn.Parameter(torch.randn(1, 64, 4, 4))
        self.blocks = nn.ModuleList([StyleBlock(64, 48), StyleBlock(48, 32), StyleBlock(32, 16)])
        self.image = nn.Conv2d(16, 3, 1)

    def forward(self, z):
        style = self.mapping(functional.normalize(z, dim=1))
        x = self.start.expand(z.shape[0], -1, -1, -1)
        for block in self.blocks:
            x = block(x, style)
        return torch.tanh(self.image(x))


# Colorizers


class SelfAttention(nn.Module):
    """DeOldify's: 1 × 1 convolutions in one dimension over all pixels."""

    def __init__(self, width):
        super().__init__()
        self.query, self.key = (nn.Conv1d(width, width // 8, 1, bias=False) for _ in range(2))
        self.value = nn.Conv1d(width, width, 1, bias=False)
        self.gamma = nn.Parameter(torch.tensor([0.5]))

    def forward(self, x):
        size = x.size()
        flat = x.view(*size[:2], -1)
        weights = functional.softmax(
            torch.bmm(self.query(flat).permute(0, 2, 1).contiguous(), self.key(flat)), dim=1)
        return (self.gamma * torch.bmm(self.value(flat), weights) + flat).view(*size).contiguous()


class DeOldify(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.down1 = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False),
                                   nn.BatchNorm2d(width), nn.ReLU())
        self.down2 = nn.Sequential(nn.Conv2d(width, 2 * width, 3, 2, 1, bias=False),
                                   nn.BatchNorm2d(2 * width), nn.ReLU())
        self.attention = SelfAttention(2 * width)
        self.up1 = nn.Sequential(nn.Conv2d(2 * width, 4 * width, 1), nn.PixelShuffle(2),
                                 nn.ReplicationPad2d((1, 0, 1, 0)), nn.AvgPool2d(2, stride=1))
        self.up2 = nn.Sequential(nn.Conv2d(2 * width, 4 * width, 1), nn.PixelShuffle(2))
        self.last = nn.Conv2d(width + 3, 3, 1)

    def forward(self, x):
        first = self.down1(x)
        y = self.attention(self.down2(first))
        y = self.up2(torch.cat([self.up1(y), first], 1))
        y = self.last(torch.cat([functional.interpolate(y, x.shape[-2:], mode="nearest"), x], 1))
        return torch.sigmoid(y) * 6 - 3


class DdColor(nn.Module):
    """ConvNeXt's encoder, a pixel decoder by pixel shuffle, and queries that attend to it."""

    def __init__(self, width=32, queries=16, depths=(1, 1, 2, 1)):
        super().__init__()
        import timm
        self.encoder = timm.create_model(
            "convnext_atto", pretrained=False, features_only=True, depths=depths,
            dims=(width, 2 * width, 4 * width, 8 * width))
        self.ups = nn.ModuleList(
            nn.Sequential(nn.Conv2d((width << step) * 2, (width << step) * 4, 1),
                          nn.PixelShuffle(2), nn.ReLU()) for step in range(3))
        self.queries = nn.Parameter(torch.randn(queries, 64))
        # Enough for 256 × 256 pixels.
        self.positions = nn.Parameter(0.1 * torch.randn(1, 256, 64))
        self.keys = nn.Linear(4 * width, 64)
        self.cross = nn.MultiheadAttention(64, 4, batch_first=True)
        self.own = nn.MultiheadAttention(64, 4, batch_first=True)
        self.norms = nn.ModuleList(nn.LayerNorm(64) for _ in range(3))
        self.mlp = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64))
        self.embed = nn.Linear(64, width)
        self.last = nn.Conv2d(queries + 3, 2, 1)

    def forward(self, x):
        features = self.encoder(x)
        y, levels = features[3], []
        for step in (2, 1, 0):
            y = self.ups[step](y) + features[step]
            levels.append(y)
        tokens = self.keys(levels[0].flatten(2).transpose(1, 2))
        queries = self.queries[None].expand(x.shape[0], -1, -1)
        keys = tokens + self.positions[:, : tokens.shape[1]]
        queries = self.norms[0](queries + self.cross(queries, keys, tokens, need_weights=False)[0])
        queries = self.norms[1](queries + self.own(queries, queries, queries,
                                                   need_weights=False)[0])
        queries = self.norms[2](queries + self.mlp(queries))
        colors = torch.einsum("bqc,bchw->bqhw", self.embed(queries), levels[2])
        colors = functional.interpolate(colors, x.shape[-2:], mode="bilinear",
                                        align_corners=False)
        return self.last(torch.cat([colors, x], 1))


class FlowWarp(nn.Module):
    """Warps an image by a predicted flow, as video colorizers do."""

    def __init__(self):
        super().__init__()
        self.flow = nn.Sequential(nn.Conv2d(6, 16, 3, padding=1), nn.ReLU(),
                                  nn.Conv2d(16, 2, 3, padding=1), nn.Tanh())

    def forward(self, first, second):
        flow = 0.2 * self.flow(torch.cat([first, second], 1)).permute(0, 2, 3, 1)
        height, width = first.shape[-2:]
        rows = torch.linspace(-1, 1, height)[:, None].expand(height, width)
        columns = torch.linspace(-1, 1, width)[None].expand(height, width)
        grid = torch.stack([columns, rows], -1)[None] + flow
        return functional.grid_sample(first, grid, mode="bilinear", padding_mode="zeros",
                                      align_corners=False)


# Audio, text and video


class TemporalNet(nn.Module):
    """Dilated convolutions in one dimension with group normalization, as Conv-TasNet has them."""

    def __init__(self, width=32):
        super().__init__()
        self.encode = nn.Conv1d(1, width, 16, 8)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv1d(width, 2 * width, 1), nn.PReLU(), nn.GroupNorm(1, 2 * width),
                          nn.Conv1d(2 * width, 2 * width, 3, padding=1 << step,
                                    dilation=1 << step, groups=2 * width), nn.PReLU(),
                          nn.GroupNorm(1, 2 * width), nn.Conv1d(2 * width, width, 1))
            for step in range(4))
        self.decode = nn.ConvTranspose1d(width, 1, 16, 8)

    def forward(self, x):
        y = mask = self.encode(x)
        for block in self.blocks:
            mask = mask + block(mask)
        return self.decode(y * torch.sigmoid(mask))


class SpeechNet(nn.Module):
    """Whisper's encoder: two convolutions in one dimension, then attention."""

    def __init__(self, width=64):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(40, width, 3, padding=1), nn.Conv1d(
            width, width, 3, 2, 1)
        self.positions = nn.Parameter(0.1 * torch.randn(50, width))
        self.layers = nn.Sequential(*(Layer(width) for _ in range(2)))

    def forward(self, x):
        x = functional.gelu(self.conv2(functional.gelu(self.conv1(x)))).transpose(1, 2)
        return self.layers(x + self.positions)


class Layer(nn.Module):
    """A transformer's layer, with attention as PyTorch 2 states it."""

    def __init__(self, width=64, heads=4, causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (part.reshape(n, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).chunk(3, -1))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(y.transpose(1, 2).reshape(n, length, width))
        return x + self.mlp(self.norm2(x))


class TextNet(nn.Module):
    def __init__(self, vocabulary=100, width=64, causal=False):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(32, width)
        self.layers = nn.Sequential(*(Layer(width, causal=causal) for _ in range(2)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1])
        x = self.tokens(tokens) + self.positions(places)[None]
        return self.head(self.norm(self.layers(x)))


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.body = kind(16, 32, num_layers=1, batch_first=True)
        self.head = nn.Linear(32, 8)

    def forward(self, x):
        return self.head(self.body(x)[0])


class VideoNet(nn.Module):
    """Convolutions in three dimensions, factored as R(2+1)D has them."""

    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv3d(3, width, (1, 7, 7), (1, 2, 2), (0, 3, 3), bias=False),
            nn.BatchNorm3d(width), nn.ReLU(),
            nn.Conv3d(width, width, (3, 1, 1), padding=(1, 0, 0), bias=False),
            nn.BatchNorm3d(width), nn.ReLU(), nn.MaxPool3d((1, 2, 2)),
            nn.Conv3d(width, 2 * width, 3, 2, 1), nn.ReLU())
        self.head = nn.Linear(2 * width, 10)

    def forward(self, x):
        # coremltools does not convert adaptive pooling in three dimensions.
        return self.head(self.body(x).mean((2, 3, 4)))


class Heads(nn.Module):
    """A detector's head: the best scores of a grid, with their places."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 5, 1))

    def forward(self, x):
        y = self.body(x).flatten(2)
        scores, places = torch.topk(torch.sigmoid(y[:, 4]), 10, dim=-1)
        boxes = torch.gather(y[:, :4], 2, places[:, None].expand(-1, 4, -1))
        return boxes, scores, y.argmax(1).float()


class Masked(nn.Module):
    """Comparisons, selection, cumulative sums and rounding."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x):
        y = self.first(x)
        y = torch.where(y > 0.5, functional.softplus(y), torch.floor(y) * 0.1 + torch.sign(y))
        return torch.cumsum(self.last(y), -1) / 64 + torch.clamp(x, -1, 1)


# The list


def torchvision_network(name, shape=(1, 3, 64, 64), **options):
    def make():
        import torchvision
        return torchvision.models.get_model(name, weights=None, **options)
    return Network(f"torchvision-{name}", make, (shape,))


def timm_network(name, size=64, **options):
    def make():
        import timm
        return timm.create_model(name, pretrained=False, **options)
    return Network(f"timm-{name}", make, ((1, 3, size, size),))


def segmentation(kind, encoder="resnet18"):
    def make():
        import segmentation_models_pytorch
        return getattr(segmentation_models_pytorch, kind)(encoder, encoder_weights=None)
    return Network(f"smp-{kind.lower()}-{encoder}", make)


NETWORKS = (
    Network("espcn", Espcn), Network("dncnn", DnCnn), Network("nafnet", NafNet),
    Network("esrgan", Esrgan, ((1, 3, 32, 32),)), Network("swinir", SwinIr),
    Network("pix2pix", Pix2Pix), Network("cyclegan", CycleGan),
    Network("style-generator", StyleGenerator, ((1, 32),)),
    Network("deoldify", DeOldify), Network("ddcolor", DdColor),
    Network("flow-warp", FlowWarp, ((1, 3, 32, 32), (1, 3, 32, 32))),
    Network("temporal", TemporalNet, ((1, 1, 808),)), Network("speech", SpeechNet, ((1, 40, 100),)),
    Network("text", TextNet, ((1, 16),), vocabulary=100),
    Network("text-causal", lambda: TextNet(causal=True), ((1, 16),), vocabulary=100),
    Network("lstm", lambda: Recurrent(nn.LSTM), ((1, 12, 16),)),
    Network("gru", lambda: Recurrent(nn.GRU), ((1, 12, 16),)),
    Network("video", VideoNet, ((1, 3, 8, 32, 32),)),
    Network("heads", Heads), Network("masked", Masked),
    *(torchvision_network(name) for name in (
        "resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0",
        "shufflenet_v2_x0_5", "squeezenet1_1", "regnet_y_400mf", "mnasnet0_5", "convnext_tiny",
        "densenet121", "googlenet", "swin_t")),
    torchvision_network("vit_b_32", (1, 3, 224, 224)),
    torchvision_network("inception_v3", (1, 3, 96, 96), init_weights=False),
    torchvision_network("lraspp_mobilenet_v3_large", weights_backbone=None),
    torchvision_network("deeplabv3_mobilenet_v3_large", weights_backbone=None),
    torchvision_network("r3d_18", (1, 3, 4, 32, 32)),
    *(timm_network(name) for name in (
        "mobilenetv4_conv_small", "efficientnet_lite0", "fastvit_t8", "convnextv2_atto",
        "mobileone_s0", "ghostnetv2_100", "repvgg_a0", "edgenext_xx_small", "poolformer_s12",
        "res2net50_14w_8s", "hrnet_w18_small", "resnest14d",
        "tf_efficientnetv2_b0", "lcnet_050", "nf_resnet50")),
    timm_network("coat_lite_tiny", 224), timm_network("mobilevit_xxs"),
    timm_network("efficientformerv2_s0", 224),
    timm_network("vit_tiny_patch16_224", 224), timm_network("levit_128s", 224),
    timm_network("xcit_nano_12_p16_224", 224), timm_network("mixer_s32_224", 224),
    timm_network("repvit_m0_9"), timm_network("tiny_vit_5m_224", 224),
    segmentation("Unet"), segmentation("UnetPlusPlus"), segmentation("FPN"),
    segmentation("MAnet"), segmentation("Linknet"), segmentation("DeepLabV3Plus"),
    segmentation("Segformer", "mit_b0"), segmentation("PSPNet", "mobilenet_v2"),
)


def measured(network, name=None):
    """A network in a size in which people run it: `Scripts/benchmark networks` measures these."""
    return dataclasses.replace(
        network, name=f"{name or network.name}-256", shapes=((1, 3, 256, 256),))


MEASURED = (
    measured(Network("ddcolor", lambda: DdColor(64, queries=100, depths=(3, 3, 9, 3)))),
    measured(Network("nafnet", lambda: NafNet(32))),
    measured(timm_network("fastvit_t8")),
    measured(segmentation("Unet"), "unet-resnet18"),
    measured(segmentation("Segformer", "mit_b0"), "segformer-mit_b0"),
    measured(segmentation("Unet", "mobilenet_v2"), "unet-mobilenet_v2"),
    measured(Network("pix2pix", lambda: Pix2Pix(64))),
    measured(Network("eccv16-rgb", Eccv16Rgb)),
    measured(timm_network("convnextv2_atto")),
    measured(Network("cyclegan", lambda: CycleGan(64))),
    measured(Network("deoldify", lambda: DeOldify(64))),
    measured(Network("swinir", lambda: SwinIr(64))),
    measured(timm_network("vit_tiny_patch16_224", img_size=256), "vit_tiny_patch16"),
)


@contextlib.contextmanager
def torchvision_operations():
    """Declares what torchvision's compiled part would, which loads beside its own PyTorch alone."""
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    yield library
