#!/usr/bin/env python3
"""Records how coremltools writes flexible sizes, mixed precision and pictures.

    python record_exports.py      writes exports.json beside this script

The network is that of `ExportFormTests`: a convolution of stride 2, ReLU, a transposed convolution
that doubles the size, every second pixel, a bilinear upsampling. Of each package, the description
of the input and of the output and the program's operations are recorded: types, parameters and
results, without weights and other constants.
"""

import json
import pathlib
import warnings

import coremltools as ct
import torch
from google.protobuf import json_format

warnings.filterwarnings("ignore")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.down = torch.nn.Conv2d(1, 4, 3, stride=2, padding=1)
        self.up = torch.nn.ConvTranspose2d(4, 2, 4, stride=2, padding=1)

    def forward(self, x):
        y = self.up(torch.relu(self.down(x)))[:, :, ::2, ::2]
        return torch.nn.functional.interpolate(
            y, scale_factor=2, mode="bilinear", align_corners=False)


def convert(shape, image=False, precision=ct.precision.FLOAT32, target=ct.target.iOS15, **options):
    torch.manual_seed(1)
    traced = torch.jit.trace(Net().eval(), torch.zeros(1, 1, 32, 32))
    if image:
        kind = ct.ImageType("input", shape, color_layout=ct.colorlayout.GRAYSCALE, **options)
    else:
        kind = ct.TensorType("input", shape)
    model = ct.convert(
        traced, inputs=[kind], outputs=[ct.TensorType("ab")], convert_to="mlprogram",
        compute_precision=precision, minimum_deployment_target=target, skip_model_load=True)
    return described(model.get_spec())


def dimensions(value):
    return [
        d.constant.size if d.WhichOneof("dimension") == "constant" else None
        for d in value.type.tensorType.dimensions]


def described(spec):
    main = spec.mlProgram.functions["main"]
    block = main.block_specializations[main.opset]
    operations = []
    for operation in block.operations:
        if operation.type == "const":
            continue
        result = operation.outputs[0]
        operations.append({
            "type": operation.type, "parameters": sorted(operation.inputs),
            "shape": dimensions(result), "dtype": result.type.tensorType.dataType})
    return {
        "input": json_format.MessageToDict(spec.description.input[0].type),
        "output": json_format.MessageToDict(spec.description.output[0].type),
        "program_input": dimensions(main.inputs[0]), "operations": operations}


def main():
    side = ct.RangeDim(32, 128, default=64)
    listed = ct.EnumeratedShapes([[1, 1, 64, 64], [1, 1, 32, 64], [1, 1, 64, 96]])
    wide = ct.EnumeratedShapes([[1, 1, 64, 64], [1, 1, 64, 96]])
    keeps = lambda *kinds: ct.transform.FP16ComputePrecision(lambda op: op.op_type not in kinds)
    cases = {
        "fixed": convert((1, 1, 64, 64)),
        "range": convert((1, 1, side, side)),
        "enumerated": convert(listed),
        "enumerated width": convert(wide),
        "image range": convert((1, 1, side, side), image=True),
        "image enumerated": convert(listed, image=True),
        "image scaled": convert((1, 1, 64, 64), image=True, scale=1 / 255, bias=-0.5),
        "float16": convert((1, 1, 64, 64), precision=ct.precision.FLOAT16),
        "keeps relu": convert((1, 1, 64, 64), precision=keeps("relu")),
        "keeps conv": convert((1, 1, 64, 64), precision=keeps("conv", "upsample_bilinear")),
    }
    path = pathlib.Path(__file__).with_name("exports.json")
    path.write_text(json.dumps(cases, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
