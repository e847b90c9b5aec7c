"""Records networks that are not colorizers, as coremltools writes them, and what PyTorch computes.

    python record.py

- photo: an RGB image goes in, and a picture and scores come out; in float32 and in float16.
- pair: a photo as a tensor and a style vector go in.
- coarse: lightness goes in, and a and b come out in a quarter of the size.
- twins: one photo and two masks go in.
- small: a network like photo whose outputs are small; small-wrong.h5 has the outputs of one with
  other weights.
"""

from pathlib import Path

import coremltools
import h5py
import numpy
import torch

HERE = Path(__file__).parent
SIDE = 32


class Photo(torch.nn.Module):
    """A picture in, a picture and ten scores out."""

    def __init__(self, scale=1.0):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.second = torch.nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=4)
        self.up = torch.nn.ConvTranspose2d(8, 3, 2, stride=2)
        self.scores = torch.nn.Linear(8, 10)
        self.scale = scale

    def forward(self, image):
        features = torch.nn.functional.gelu(self.second(torch.relu(self.first(image))))
        scores = self.scores(features.mean((2, 3)))
        return self.scale * torch.sigmoid(self.up(features)), self.scale * torch.softmax(scores, 1)


class Pair(torch.nn.Module):
    """A picture in a style."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.InstanceNorm2d(8)
        self.style = torch.nn.Linear(6, 8)
        self.last = torch.nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, image, style):
        scale = self.style(style)[:, :, None, None]
        return self.last(torch.relu(self.norm(self.first(image)) * scale))


class Coarse(torch.nn.Module):
    """a and b in a quarter of the size."""

    def __init__(self):
        super().__init__()
        self.only = torch.nn.Conv2d(1, 2, 4, stride=4)

    def forward(self, lightness):
        return self.only(lightness)


class Twins(torch.nn.Module):
    """A photo below each of two masks."""

    def forward(self, image, masks):
        return image * masks


def convert(network, inputs, outputs, precision, name):
    examples = [torch.rand(value.shape.shape) for value in inputs]
    model = coremltools.convert(
        torch.jit.trace(network, examples), inputs=inputs,
        outputs=[coremltools.TensorType(name=output) for output in outputs],
        compute_precision=getattr(coremltools.precision, precision),
        minimum_deployment_target=coremltools.target.iOS16)
    model.save(HERE / name)


def record(network, inputs, outputs, name, scaled=lambda value: value):
    with torch.no_grad():
        results = network(*(scaled(torch.from_numpy(value)) for value in inputs.values()))
    results = results if isinstance(results, tuple) else (results,)
    with h5py.File(HERE / name, "w") as file:
        for key, value in inputs.items():
            file[f"inputs/{key}"] = value
        for key, value in zip(outputs, results):
            file[f"outputs/{key}"] = value.numpy()


def main():
    image = coremltools.ImageType(
        name="image", shape=(1, 3, SIDE, SIDE), scale=1 / 127.5, bias=[-1, -1, -1])
    outputs = ["picture", "scores"]
    torch.manual_seed(1)
    photo = Photo().eval()
    for precision, suffix in (("FLOAT32", ""), ("FLOAT16", "-float16")):
        convert(photo, [image], outputs, precision, f"photo{suffix}.mlpackage")
    torch.manual_seed(2)
    convert(Photo(4e-4).eval(), [image], outputs, "FLOAT32", "small.mlpackage")
    wrong = Photo(4e-4).eval()
    torch.manual_seed(3)
    pair = Pair().eval()
    tensors = [coremltools.TensorType(name="image", shape=(1, 3, SIDE, SIDE)),
               coremltools.TensorType(name="style", shape=(1, 6))]
    convert(pair, tensors, ["result"], "FLOAT32", "pair.mlpackage")

    side = (SIDE, SIDE)
    convert(Coarse().eval(), [coremltools.TensorType(name="lightness", shape=(1, 1, *side))],
            ["ab"], "FLOAT32", "coarse.mlpackage")
    convert(Twins(), [coremltools.TensorType(name="image", shape=(1, 3, *side)),
                      coremltools.TensorType(name="masks", shape=(2, 1, *side))],
            ["result"], "FLOAT32", "twins.mlpackage")

    random = numpy.random.default_rng(4)
    levels = random.integers(0, 256, (1, 3, SIDE, SIDE)).astype(numpy.float32)
    for network, name in ((photo, "photo.h5"), (wrong, "small-wrong.h5")):
        record(network, {"image": levels}, outputs, name, lambda image: image / 127.5 - 1)
    record(pair, {"image": random.random((1, 3, SIDE, SIDE), numpy.float32),
                  "style": random.standard_normal((1, 6)).astype(numpy.float32)},
           ["result"], "pair.h5")


if __name__ == "__main__":
    main()
