"""Writes networks as ONNX and compares what ONNX Runtime makes of them with retint.

Called by Scripts/checks/onnx-export with a folder to work in, the folder of ONNXCaseWriter's files,
and architectures; all of them if there are none.
"""

import pathlib
import sys

import h5py
import numpy as np

import retint_onnx
from retint_onnx import cases
from retint_tool import ROOT, report, run

WIDTH, SIZE = "0.25", 64
ARCHITECTURES = ("eccv16", "siggraph17", "class-unet", "rep-unet", "lite-unet", "lite-class-unet",
                 "mobile-unet", "pico-unet")
# `export`'s options, `quantize`'s, the opset that is expected, and the least PSNR in dB against
# the package that was translated and against the float32 checkpoint; None is not judged.
FORMS = {
    "float32": ((), None, 17, 100, 100),
    "float16": (("--precision", "float16"), None, 17, 60, 60),
    "sizes": (("--min-size", "32", "--max-size", "128"), None, 17, 100, 100),
    "int8": ((), ("--weights", "int8"), 17, 100, 38),
    "uint8 linear": ((), ("--weights", "uint8", "--mode", "linear"), 17, 100, 38),
    "int8 float16": (("--precision", "float16"), ("--weights", "int8"), 17, 60, 38),
    "int8 of iOS18": (("--target", "iOS18"), ("--weights", "int8"), 17, 100, 38),
    "int4 by block": (("--target", "iOS18"),
                      ("--weights", "int4", "--granularity", "per-block", "--block-size", "8"),
                      21, 100, None),
    "palette6": ((), ("--weights", "palette6"), 17, 100, None),
    "palette4": (("--target", "iOS18"), ("--weights", "palette4"), 21, 100, None),
    "palette4 by group": (("--target", "iOS18"),
                          ("--weights", "palette4", "--granularity", "per-group",
                           "--block-size", "8"), 21, 100, None),
    "sparse int8": (("--target", "iOS18"), ("--weights", "int8", "--sparsity", "0.5"), 17, 100,
                    None),
}


def checkpoint(folder, architecture):
    """A network with random weights: all but one tensor are missing in what is imported."""
    path = folder / f"{architecture}.h5"
    source = ROOT / "Checkpoints/lite-class-unet-small.h5"
    if architecture in ("eccv16", "siggraph17"):
        source = folder / "seed.h5"
        with h5py.File(source, "w") as file:
            file["model1.0.bias"] = np.zeros(16, np.float32)
    run("import", source, "--architecture", architecture, "--width", WIDTH, "--non-strict",
        "-o", path)
    return path


def write(folder, model, form):
    """The package in a form, and the same as ONNX."""
    export, quantize, *_ = FORMS[form]
    package, network = folder / "network.mlpackage", folder / "network.onnx"
    sizes = () if form == "sizes" else ("--size", SIZE)
    run("export", model, "-o", package, *export, *sizes)
    if quantize:
        source, package = package, folder / "small.mlpackage"
        run("quantize", source, "-o", package, *quantize, "--threshold", "64")
    said = run("export", package, "-o", network)
    return package, network, int(said.split("opset ")[1].split(",")[0])


# With random weights, this network amplifies what float16 rounds.
ALLOWANCES = {"rep-unet": 10}


def psnr(model, option, other):
    """The PSNR in dB of a model against another one; exit status 2 is a result, too."""
    result = report("verify", model, option, other, status=(0, 2))
    values = [output["psnr_db"] for output in result["outputs"].values()]
    return min(float("inf") if value is None else value for value in values)


def check(folder, architecture, model, form):
    """Prints a line; returns whether all bounds hold."""
    *_, opset, translated, original = FORMS[form]
    package, network, found_opset = write(folder, model, form)
    retint_onnx.check(network)
    shape = retint_onnx.shape(network, SIZE)
    values = retint_onnx.lightness(shape)
    outputs = retint_onnx.run(network, values)
    reference = folder / "reference.h5"
    with h5py.File(reference, "w") as file:
        file["inputs/input"] = values
        for name, output in outputs.items():
            file[f"outputs/{name}"] = output
    figures = [psnr(source, "--reference", reference) for source in (package, model)]
    if translated < 100:
        translated -= ALLOWANCES.get(architecture, 0)
    if original is not None and figures[1] < original:
        # What the package itself loses is not the translation's.
        original = min(original, psnr(package, "--against", model) - 6)
    passed = found_opset == opset and figures[0] >= translated and (
        original is None or figures[1] >= original)
    print(f"{architecture:16} {form:18} opset {found_opset}  {network.stat().st_size:>9} bytes  "
          f"PSNR {figures[0]:6.1f} dB against the package, {figures[1]:6.1f} dB against the "
          f"checkpoint  {'ok' if passed else 'FAILED'}", flush=True)
    return passed


def check_cases(folder):
    """Whether all files of single operations are right; prints those that are not."""
    found = cases.read(folder)
    faults = [(case, cases.fault(folder, case)) for case in found]
    faults = [(case, fault) for case, fault in faults if fault]
    for case, fault in faults:
        print(f"{case['name']}, opset {case['opset']}: {fault}")
    print(f"{len(found)} files of single operations, {len(faults)} of them wrong")
    return not faults


def main():
    folder = pathlib.Path(sys.argv[1])
    passed = check_cases(pathlib.Path(sys.argv[2]))
    for architecture in sys.argv[3:] or ARCHITECTURES:
        model = checkpoint(folder, architecture)
        for form in FORMS:
            passed &= check(folder, architecture, model, form)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
