#!/usr/bin/env python3
"""Writes the packages beside this script, with coremltools, and what their weights are:

    make_goldens.py [NAME ...]

Needs torch and coremltools. Without names it writes all. Run it again only to change the goldens:
identifiers and dates in the packages differ from run to run.
"""

import json
import os
import shutil
import sys
import tempfile
import warnings

import numpy as np

warnings.filterwarnings("ignore")
import coremltools as ct  # noqa: E402
import coremltools.optimize.coreml as cto  # noqa: E402
import coremltools.proto.MIL_pb2 as mil  # noqa: E402
import torch  # noqa: E402
from coremltools.libmilstoragepython import _BlobStorageReader  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
READERS = {
    "FLOAT32": "float",
    "FLOAT16": "fp16",
    "INT8": "int8",
    "UINT8": "uint8",
    "INT4": "int4",
    "UINT4": "uint4",
}


class Tiny(torch.nn.Module):
    """A colorizer in small: stride, dilation, normalisation, softmax, a skip, upsampling."""

    def __init__(self):
        super().__init__()
        self.down = torch.nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.wide = torch.nn.Conv2d(8, 8, 3, padding=2, dilation=2)
        self.up = torch.nn.ConvTranspose2d(8, 4, 4, stride=2, padding=1)
        self.ab = torch.nn.Conv2d(4, 2, 1, bias=False)

    def forward(self, lightness):
        low = self.norm(torch.relu(self.down(lightness / 100 - 0.5)))
        logits = self.up(torch.relu(self.wide(low)) + low)
        ab = self.ab(torch.softmax(logits, dim=1)) * 110
        return torch.nn.functional.interpolate(
            ab, scale_factor=2, mode="bilinear", align_corners=False
        )


def convert(model, target, precision, image=False, size=16, dtype=np.float32):
    shape = (1, 1, size, size)
    traced = torch.jit.trace(model, torch.zeros(shape))
    if image:
        source = ct.ImageType(
            name="lightness", shape=shape, color_layout=ct.colorlayout.GRAYSCALE, scale=100 / 255
        )
    else:
        source = ct.TensorType(name="lightness", shape=shape, dtype=dtype)
    return ct.convert(
        traced,
        inputs=[source],
        outputs=[ct.TensorType(name="ab", dtype=dtype)],
        convert_to="mlprogram",
        minimum_deployment_target=target,
        compute_precision=precision,
        skip_model_load=True,
    )


def quantized(model, dtype, **options):
    config = cto.OpLinearQuantizerConfig(
        mode="linear_symmetric", dtype=dtype, weight_threshold=8, **options
    )
    return cto.linear_quantize_weights(model, cto.OptimizationConfig(global_config=config))


def values(program):
    """Every constant of main: (operation, name of the parameter or attribute, Value)."""
    main = list(program.functions.values())[0]
    for operation in main.block_specializations[main.opset].operations:
        for name, value in operation.attributes.items():
            yield operation, name, value
        for name, argument in operation.inputs.items():
            for binding in argument.arguments:
                if binding.WhichOneof("binding") == "value":
                    yield operation, name, binding.value


def summary(path):
    model = ct.utils.load_spec(path)
    reader = _BlobStorageReader(os.path.join(path, "Data/com.apple.CoreML/weights/weight.bin"))
    main = list(model.mlProgram.functions.values())[0]
    types = [operation.type for operation in main.block_specializations[main.opset].operations]
    blobs = []
    for operation, name, value in values(model.mlProgram):
        if value.WhichOneof("value") != "blobFileValue":
            continue
        kind = mil.DataType.Name(value.type.tensorType.dataType)
        elements = np.asarray(
            getattr(reader, f"read_{READERS[kind]}_data")(value.blobFileValue.offset)
        )
        if kind == "FLOAT16":
            elements = elements.view(np.float16)
        elements = elements.astype(np.float64)
        blobs.append(
            {
                "operation": operation.outputs[0].name,
                "parameter": name,
                "shape": [d.constant.size for d in value.type.tensorType.dimensions],
                "first": elements[:3].tolist(),
                "sum": elements.sum(),
                "squares": (elements**2).sum(),
            }
        )
    return {"version": model.specificationVersion, "operations": sorted(types), "blobs": blobs}


def convert_classifier():
    """A classifier of a photo, whose outputs are a label and the probabilities of all labels."""
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(), torch.nn.Linear(4, 3), torch.nn.Softmax(1)).eval()
    shape = (1, 1, 16, 16)
    return ct.convert(
        torch.jit.trace(network, torch.zeros(shape)),
        inputs=[ct.TensorType(name="lightness", shape=shape)],
        classifier_config=ct.ClassifierConfig(["sky", "grass", "skin"]),
        convert_to="mlprogram", minimum_deployment_target=ct.target.iOS16,
        compute_precision=ct.precision.FLOAT16, skip_model_load=True)


def save_functions(path, model):
    """The network at two sizes, as functions of one package."""
    functions = ct.utils.MultiFunctionDescriptor()
    with tempfile.TemporaryDirectory() as folder:
        for name, size in [("small", 16), ("large", 32)]:
            part = os.path.join(folder, name + ".mlpackage")
            convert(model, ct.target.iOS18, ct.precision.FLOAT32, size=size).save(part)
            functions.add_function(part, "main", name)
        functions.default_function_name = "small"
        ct.utils.save_multifunction(functions, path)


def main():
    torch.manual_seed(7)
    model = Tiny().eval()
    model.norm.running_mean.uniform_(-0.1, 0.1)
    model.norm.running_var.uniform_(0.5, 1.5)
    single, half = ct.precision.FLOAT32, ct.precision.FLOAT16
    packages = {
        "float32-iOS15": convert(model, ct.target.iOS15, single),
        "float16-iOS15": convert(model, ct.target.iOS15, half),
        "image-iOS16": convert(model, ct.target.iOS16, half, image=True),
        "int8-iOS16": quantized(convert(model, ct.target.iOS16, half), "int8"),
        "int4-iOS18": quantized(
            convert(model, ct.target.iOS18, half), "int4", granularity="per_channel"
        ),
        "int8-iOS26": convert(model, ct.target.iOS26, half, dtype=np.int8),
        "classifier-iOS16": convert_classifier(),
        "functions-iOS18": None,
    }
    with open(os.path.join(HERE, "expected.json")) as file:
        expected = json.load(file)
    for name in sys.argv[1:] or packages:
        path = os.path.join(HERE, name + ".mlpackage")
        shutil.rmtree(path, ignore_errors=True)
        if packages[name]:
            packages[name].save(path)
        else:
            save_functions(path, model)
        expected[name] = summary(path)
    with open(os.path.join(HERE, "expected.json"), "w") as file:
        json.dump(expected, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
