"""What the cases of `Scripts/check python` share: the module, photos, a package and a network."""

import os
import pathlib
import sys
import tempfile
import unittest

from retint_tool import ROOT

MODULE = ROOT / "Sources/Retint/Python"
LIBRARY = ROOT / ".build/release/libRetintC.so"
CHECKPOINTS = ROOT / "Checkpoints"
SMALL = str(CHECKPOINTS / "lite-class-unet-small.h5")

os.environ.setdefault("RETINT_LIBRARY", str(LIBRARY))
os.environ.setdefault("RETINT_CHECKPOINTS", str(CHECKPOINTS))
sys.path.insert(0, str(MODULE))

import numpy  # noqa: E402
import torch  # noqa: E402
from PIL import Image  # noqa: E402

import retint  # noqa: E402


class Net(torch.nn.Module):
    """A small network with layers to name."""

    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.body = torch.nn.Sequential(torch.nn.Conv2d(8, 8, 3, padding=1), torch.nn.ReLU(),
                                        torch.nn.Conv2d(8, 8, 1))
        self.head = torch.nn.Conv2d(8, 2, 1)

    def forward(self, x):
        x = self.stem(x)
        return self.head(x + self.body(x))


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="retint-python-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.photos = str(cls.folder / "photos")
        os.mkdir(cls.photos)
        for index in range(4):
            noise = numpy.random.default_rng(index).integers(0, 255, (6, 8, 3), "uint8")
            Image.fromarray(noise).resize((80, 60)).save(f"{cls.photos}/{index}.png")
        cls.package = str(retint.export(SMALL, cls.folder / "small.mlpackage", size=64))

    def lightness(self, side=64):
        return numpy.random.default_rng(0).uniform(0, 100, (1, 1, side, side)).astype("float32")

    def network(self, name="net.onnx", seed=0):
        """A module, an ONNX file of it, and an input."""
        torch.manual_seed(seed)
        module, x = Net().eval(), torch.randn(1, 3, 32, 32)
        path = str(self.folder / name)
        torch.onnx.export(module, (x,), path, input_names=["x"], output_names=["y"],
                          dynamo=False)
        return module, path, x
