"""Imports networks that torch exports as ONNX, and compares retint with ONNX Runtime.

    Scripts/check onnx [--sample N] [--seed N] [NETWORK…]

Each network is exported with both of torch's exporters, in several opsets, with fixed and with
varying sizes, with its normalizations and with folded ones. retint's colors must be those of ONNX
Runtime: max ≤ 0.01, mean ≤ 0.001, in units of a and b. Then one file of each network is imported,
trained for a few steps, and exported as a Core ML package, which must agree with the checkpoint.

The default is ECCV16, SIGGRAPH17 and a U-Net on MobileNetV2, with random weights. --sample takes
one in N of the networks, and of the exports of each. The exit status is 1 when a bound is exceeded.
"""

import contextlib
import inspect
import io
import logging
import pathlib
import tempfile
import warnings

import h5py
import numpy as np
import torch

import export_pytorch
import retint_onnx
import retint_options
import retint_runs
from retint_reference import networks
from retint_tool import report, run

NETWORKS = ("eccv16", "siggraph17", "mobilenetv2-unet")
SIZE = 128
MAX_ERROR, MEAN_ERROR = 0.01, 0.001
# A package against the checkpoint that it comes of; weights that are not trained amplify rounding.
PACKAGE_BOUND = 2e-3
VARYING = {"L": {0: "n", 2: "height", 3: "width"}}
DYNAMIC = ({0: torch.export.Dim("n"), 2: torch.export.Dim.AUTO, 3: torch.export.Dim.AUTO},)
KEPT = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}
# The options of torch.onnx.export.
FORMS = {
    "opset 11": {"dynamo": False, "opset_version": 11},
    "opset 13, any size": {"dynamo": False, "opset_version": 13, "dynamic_axes": VARYING},
    "opset 17, normalizations": {
        "dynamo": False, "opset_version": 17, "dynamic_axes": VARYING, **KEPT},
    "opset 18, dynamo": {"dynamo": True, "opset_version": 18, "dynamic_shapes": DYNAMIC},
    "opset 21, dynamo": {"dynamo": True, "opset_version": 21, "external_data": False},
}
CONFIGURATION = """\
architecture: onnx
batch: 2
steps: 3
data: {crop: 64}
optimizer: {learning_rate: 0.0001}
"""
TRAINED = "opset 17, normalizations"


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    retint_options.add_sample(parser)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    sample = retint_options.Sample(options, "onnx")
    passed = True
    with tempfile.TemporaryDirectory(prefix="retint-onnx-") as name:
        folder = pathlib.Path(name)
        retint_runs.write_photos(folder / "photos", count=4, width=160, height=144)
        for network in options.networks or sample.of(NETWORKS):
            for form in sample.of(FORMS):
                passed &= check(folder, network, form)
    return 0 if passed else 1


def seeded(name):
    """A network with random weights, and lightness for it."""
    torch.manual_seed(0)
    module = networks.factory(name)().eval()
    lightness = torch.rand(1, 1, SIZE, SIZE) * 100
    argument = next(iter(inspect.signature(module.forward).parameters))
    export_pytorch.randomize(module, {argument: lightness})
    return module.eval(), lightness


def check(folder, name, form):
    """Prints lines of results; returns whether all bounds hold."""
    module, lightness = seeded(name)
    path = folder / "network.onnx"
    with contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(module, (lightness,), str(path), verbose=False, **(
            FORMS[form] | ({"input_names": ["L"]} if "dynamic_axes" in FORMS[form] else {})))
    outputs = retint_onnx.run(path, lightness.numpy())
    reference = folder / "reference.h5"
    with h5py.File(reference, "w") as file:
        file["inputs/lightness"] = lightness.numpy()
        file["outputs/ab"] = next(iter(outputs.values()))
    result = report("verify", path, "--reference", reference, status=(0, 2))
    output, = result["outputs"].values()
    passed = output["max_abs_error"] <= MAX_ERROR and output["mean_abs_error"] <= MEAN_ERROR
    print(f"{name:18} {form:26} max {output['max_abs_error']:.1e}  "
          f"mean {output['mean_abs_error']:.1e}  {verdict(passed)}", flush=True)
    return passed and (form != TRAINED or trains(folder, name, path))


def trains(folder, name, path):
    """Whether a network trains from its file, and becomes a package that agrees."""
    start, package = folder / "start.h5", folder / "network.mlpackage"
    run("import", path, "-o", start)
    output = folder / f"run-{name}"
    configuration = folder / "run.yaml"
    configuration.write_text(CONFIGURATION)
    run("train", "--config", configuration, "--output", output, "--set", f"init={start}",
        f"data.train={folder / 'photos'}")
    with h5py.File(start) as before, h5py.File(output / "last.h5") as after:
        names = [key for key in before if isinstance(before[key], h5py.Dataset)]
        changed = sum(bool(np.any(before[key][()] != after[key][()])) for key in names)
    run("export", output / "last.h5", "-o", package, "--size", SIZE)
    result = report("verify", package, "--against", output / "last.h5", "--size", SIZE,
                    status=(0, 2))
    error = max(part["max_abs_error"] for part in result["outputs"].values())
    passed = error <= PACKAGE_BOUND and changed >= 0.9 * len(names)
    print(f"{name:18} trained: {changed} of {len(names)} tensors changed; its package is within "
          f"{error:.1e}  {verdict(passed)}", flush=True)
    return passed


def verdict(passed):
    return "ok" if passed else "FAILED"
