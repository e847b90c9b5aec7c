"""Converts one network of `Scripts/compare networks` to files; runs in .venv-networks.

    python -m retint_comparisons._convert NAME SEED FILE...

A FILE is reference.h5, half.json, or a kind with its extension. The reason why a file could not be
made is left beside it, with the extension .error.
"""

import copy
import json
import logging
import math
import pathlib
import sys
import warnings

import torch

from retint_conversion import exporters

from . import _networks


def main():
    name, seed, *files = sys.argv[1:]
    warnings.simplefilter("ignore")
    logging.disable()
    torch.set_num_threads(1)
    # The exporters know the operations that attention consists of.
    torch.backends.mha.set_fastpath_enabled(False)
    [network] = [network for network in _networks.NETWORKS + _networks.MEASURED
                 if network.name == name]
    with _networks.torchvision_operations(), torch.no_grad():
        module = Outputs(network.module(int(seed))).eval()
        inputs = network.inputs(int(seed) + 2)
        for path in map(pathlib.Path, files):
            maker, *options = MAKERS[path.stem]
            try:
                maker(module, inputs, path, *options)
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


def write_reference(module, inputs, path):
    exporters.write_reference(path, inputs, module(*inputs))


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


def write_quantized(_, __, path, dtype):
    exporters.core_ml_quantized(path.with_name("coreml-18-float32.mlpackage"), path, dtype)


# The functions and options for the kinds of files, by name.
MAKERS = {
    "coreml-15-float32": (exporters.core_ml, "iOS15", "FLOAT32"),
    "coreml-15-float16": (exporters.core_ml, "iOS15", "FLOAT16"),
    "coreml-18-float32": (exporters.core_ml, "iOS18", "FLOAT32"),
    "coreml-18-float16": (exporters.core_ml, "iOS18", "FLOAT16"),
    "coreml-18-int8": (write_quantized, "int8"),
    "coreml-18-int4": (write_quantized, "int4"),
    "onnx-torchscript": (exporters.onnx, False),
    "onnx-dynamo": (exporters.onnx, True),
    "reference": (write_reference,),
    "half": (write_half,),
}


main()
