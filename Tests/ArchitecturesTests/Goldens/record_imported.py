"""Writes small networks as ONNX with torch's exporters, and records what they compute and how they
train, into imported.json and imported-*.onnx.

    Scripts/setup --python
    .venv/bin/python Tests/ArchitecturesTests/Goldens/record_imported.py

The outputs are ONNX Runtime's; the losses are PyTorch's, of the module that was exported.
"""

import json
import logging
import pathlib
import warnings

import onnx
import onnxruntime
import torch
from torch import nn
from torch.nn.functional import interpolate

import record_networks
from record_networks import INPUT_SEED, WEIGHT_SEED, sampled
from retint_reference.seeded import load_seeded, uniform

FOLDER = pathlib.Path(__file__).parent
WIDTH, HEIGHT = 48, 40


class Tiny(nn.Module):
    """A U-Net of one level: strided and depthwise convolutions, normalizations, a skip."""

    def __init__(self, size=None):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU6())
        self.down = nn.Sequential(
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.Hardswish(),
            nn.Conv2d(16, 16, 5, padding=2, groups=16, bias=False), nn.LeakyReLU(0.2))
        self.head = nn.Sequential(nn.Conv2d(24, 2, 1))
        self.size = size

    def forward(self, lightness):
        kept = self.stem((lightness - 50) / 100)
        deep = self.down(kept)
        if self.size:
            larger = interpolate(deep, size=self.size, mode="bilinear", align_corners=False)
        else:
            larger = interpolate(deep, scale_factor=2, mode="bilinear", align_corners=False)
        return torch.tanh(self.head(torch.cat([larger, kept], 1))) * 110


def strip(path):
    """Removes where each operation was written: paths of this machine."""
    model = onnx.load(str(path))
    del model.metadata_props[:]
    for part in (model.graph, *model.graph.node, *model.graph.input, *model.graph.output,
                 *model.graph.value_info):
        part.doc_string = ""
        del part.metadata_props[:]
    onnx.save(model, str(path))


def export(name, module, lightness, **options):
    """Writes a network; returns a record of ONNX Runtime's outputs."""
    path = FOLDER / f"imported-{name}.onnx"
    torch.onnx.export(module, (lightness,), str(path), input_names=["lightness"],
                      output_names=["ab"], **options)
    strip(path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    output, = session.run(None, {"lightness": lightness.numpy()})
    difference = abs(output - module(lightness).detach().numpy()).max()
    print(f"{path.name}: {path.stat().st_size} bytes, {difference:.1e} from PyTorch")
    assert difference < 1e-3
    return sampled(torch.from_numpy(output), 256)


def seeded(size=None):
    network = Tiny(size).eval()
    load_seeded(network, WEIGHT_SEED)
    return network


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(2)
    lightness = uniform(INPUT_SEED, "lightness", (1, 1, HEIGHT, WIDTH), 0, 100)
    varying = {"lightness": {0: "n", 2: "h", 3: "w"}}
    kept = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}
    network, dimension = seeded(), torch.export.Dim
    outputs = {
        "traced": export("traced", network, lightness, opset_version=13, dynamo=False,
                         dynamic_axes=varying, **kept),
        "folded": export("folded", network, lightness, opset_version=11, dynamo=False),
        "dynamo": export(
            "dynamo", network, lightness, opset_version=18, dynamo=True, external_data=False,
            dynamic_shapes=({0: dimension("n"), 2: dimension.AUTO, 3: dimension.AUTO},)),
        "fixed": export("fixed", seeded((HEIGHT, WIDTH)), lightness, opset_version=17,
                        dynamo=False),
    }
    record_networks.NETWORKS["imported-traced"] = Tiny
    training = record_networks.training("imported-traced", "sgd", 5e-3)
    (FOLDER / "imported.json").write_text(
        json.dumps({"outputs": outputs, "training": training}, separators=(",", ":")))


if __name__ == "__main__":
    main()
