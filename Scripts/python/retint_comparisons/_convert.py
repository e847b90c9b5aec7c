"""Converts one network of `Scripts/compare networks` to files; runs in .venv-networks.

    python -m retint_comparisons._convert NAME SEED FILE...

A FILE is reference.h5, half.json, or a kind with its extension. The reason why a file could not be
made is left beside it, with the extension .error.
"""

import contextlib
import copy
import json
import logging
import math
import os
import pathlib
import sys
import warnings

import coremltools
import h5py
import numpy
import torch

from . import _networks

# The functions and options for the kinds of files, by name.
MAKERS = {
    "coreml-15-float32": ("core_ml", "iOS15", "FLOAT32"),
    "coreml-15-float16": ("core_ml", "iOS15", "FLOAT16"),
    "coreml-18-float32": ("core_ml", "iOS18", "FLOAT32"),
    "coreml-18-float16": ("core_ml", "iOS18", "FLOAT16"),
    "onnx-torchscript": ("onnx", False),
    "onnx-dynamo": ("onnx", True),
    "reference": ("write_reference",),
    "half": ("write_half",),
}


def main():
    name, seed, *files = sys.argv[1:]
    warnings.simplefilter("ignore")
    logging.disable()
    torch.set_num_threads(1)
    # The exporters know the operations that attention consists of.
    torch.backends.mha.set_fastpath_enabled(False)
    [network] = [network for network in _networks.NETWORKS if network.name == name]
    with _networks.torchvision_operations(), torch.no_grad():
        module = Outputs(network.module(int(seed))).eval()
        inputs = network.inputs(int(seed) + 2)
        for path in map(pathlib.Path, files):
            maker, *options = MAKERS[path.stem]
            try:
                globals()[maker](module, inputs, path, *options)
            except Exception as error:
                lines = f"{type(error).__name__}: {error}".strip().splitlines()
                path.with_suffix(".error").write_text(lines[0][:300])


class Outputs(torch.nn.Module):
    """A module whose outputs are a tuple, whatever it returns."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        result = self.module(*inputs)
        if isinstance(result, dict):
            result = tuple(result.values())
        return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def names(prefix, values):
    return [f"{prefix}{index}" for index in range(len(values))]


def write_reference(module, inputs, path):
    outputs = module(*inputs)
    with h5py.File(path, "w") as file:
        for name, value in zip(names("input", inputs), inputs):
            file[f"inputs/{name}"] = value.numpy()
        for name, value in zip(names("output", outputs), outputs):
            file[f"outputs/{name}"] = value.float().numpy()


def write_half(module, inputs, path):
    """The PSNR of PyTorch's own float16, of the output that has the smallest."""
    expected = module(*inputs)
    half = copy.deepcopy(module).half()
    found = half(*(value.half() if value.is_floating_point() else value for value in inputs))
    ratios = []
    for value, wanted in zip(found, expected):
        error = (value.float() - wanted).square().mean().item()
        peak = wanted.abs().max().item()
        ratios.append(10 * math.log10(peak * peak / error) if error and peak else math.inf)
    path.write_text(json.dumps(min(ratios)))


def core_ml(module, inputs, path, target, precision):
    outputs = module(*inputs)
    with open(os.devnull, "w") as nothing, contextlib.redirect_stderr(nothing):
        package = coremltools.convert(
            torch.jit.trace(module, inputs),
            inputs=[coremltools.TensorType(
                name, value.shape,
                dtype=numpy.float32 if value.is_floating_point() else numpy.int32)
                for name, value in zip(names("input", inputs), inputs)],
            outputs=[coremltools.TensorType(name, dtype=numpy.float32)
                     for name in names("output", outputs)],
            minimum_deployment_target=getattr(coremltools.target, target),
            compute_precision=getattr(coremltools.precision, precision))
    package.save(str(path))


def onnx(module, inputs, path, dynamo):
    torch.onnx.export(
        module, inputs, str(path), dynamo=dynamo, opset_version=18 if dynamo else 17,
        input_names=names("input", inputs), output_names=names("output", module(*inputs)),
        **({"external_data": False} if dynamo else {}))


main()
