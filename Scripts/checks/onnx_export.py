"""Writes networks as ONNX and compares what ONNX Runtime makes of them with retint.

Called by Scripts/checks/onnx-export with a folder to work in, the folder of ONNXCaseWriter's files,
and architectures; all of them if there are none.
"""

import argparse
import inspect
import pathlib
import sys

import h5py
import torch

import export_pytorch
import retint_onnx
from retint_onnx import activations, cases
from retint_reference.networks import ARCHITECTURES, factory
from retint_tool import report, run

WIDTH, SIZE = 0.25, 64
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


# Forms of networks that have but one width, and of all but one with --quick.
FEW = ("float32", "float16", "int8")
# What --quick tries: these networks, and one of so many operations.
QUICK, QUICK_CASES = ("pico-unet", "mobile-unet"), 8


def is_narrow(architecture):
    """Whether there is a narrow one of that architecture."""
    return "width" in inspect.signature(factory(architecture)).parameters


def forms(architecture, quick):
    few = not is_narrow(architecture) or (quick and architecture != QUICK[0])
    return FEW if few else FORMS


def checkpoint(folder, architecture):
    """A network with random weights that give colors."""
    weights, path = folder / "weights.h5", folder / f"{architecture}.h5"
    width = {"width": WIDTH} if is_narrow(architecture) else {}
    torch.manual_seed(0)
    network = factory(architecture)(**width).eval()
    export_pytorch.randomize(network, {"input": 100 * torch.rand(1, 1, SIZE, SIZE)}, 0)
    export_pytorch.weights(network, weights)
    options = ["--width", WIDTH] if width else []
    run("import", weights, "--architecture", architecture, *options, "-o", path)
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


def psnr(model, option, other):
    """The PSNR in dB of a model against another one; exit status 2 is a result, too."""
    result = report("verify", model, option, other, status=(0, 2))
    values = [output["psnr_db"] for output in result["outputs"].values()]
    return min(float("inf") if value is None else value for value in values)


def write_reference(folder, values, outputs):
    path = folder / "reference.h5"
    with h5py.File(path, "w") as file:
        file["inputs/input"] = values
        for name, output in outputs.items():
            file[f"outputs/{name}"] = output
    return path


def check(folder, architecture, model, form):
    """Prints a line; returns whether all bounds hold."""
    *_, opset, translated, original = FORMS[form]
    package, network, found_opset = write(folder, model, form)
    retint_onnx.check(network)
    shape = retint_onnx.shape(network, SIZE)
    values = retint_onnx.lightness(shape)
    reference = write_reference(folder, values, retint_onnx.run(network, values))
    figures = [psnr(source, "--reference", reference) for source in (package, model)]
    if original is not None and figures[1] < original:
        # What the package itself loses is not the translation's.
        original = min(original, psnr(package, "--against", model) - 6)
    passed = found_opset == opset and figures[0] >= translated and (
        original is None or figures[1] >= original)
    print(f"{architecture:16} {form:18} opset {found_opset}  {network.stat().st_size:>9} bytes  "
          f"PSNR {figures[0]:6.1f} dB against the package, {figures[1]:6.1f} dB against the "
          f"checkpoint  {'ok' if passed else 'FAILED'}", flush=True)
    return passed


def check_activations(folder):
    """Whether a network with quantized activations gives the same bits.

    Without ONNX Runtime's optimizations: its products of 8 bits saturate on processors without
    VNNI, and its outputs then differ from those of its own float32 run of the file.
    """
    package, network = folder / "activations.mlpackage", folder / "activations.onnx"
    activations.write(package)
    run("export", package, "-o", network)
    retint_onnx.check(network)
    values = retint_onnx.lightness([1, 1, activations.SIZE, activations.SIZE])
    outputs = retint_onnx.run(network, values, optimizes=False)
    figure = psnr(package, "--reference", write_reference(folder, values, outputs))
    passed = figure == float("inf")
    print(f"{'pico-unet':16} quantized activations   PSNR {figure:6.1f} dB against the package  "
          f"{'ok' if passed else 'FAILED'}", flush=True)
    return passed


def check_cases(folder, every):
    """Whether all files of single operations are right, or one of so many; prints those that are
    not."""
    found = cases.read(folder)[::every]
    faults = [(case, cases.fault(folder, case)) for case in found]
    faults = [(case, fault) for case, fault in faults if fault]
    for case, fault in faults:
        print(f"{case['name']}, opset {case['opset']}: {fault}")
    print(f"{len(found)} files of single operations, {len(faults)} of them wrong")
    return not faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("cases", type=pathlib.Path)
    parser.add_argument("architectures", nargs="*")
    options = parser.parse_args()
    passed = check_cases(options.cases, QUICK_CASES if options.quick else 1)
    passed &= check_activations(options.folder)
    for architecture in options.architectures or (QUICK if options.quick else ARCHITECTURES):
        model = checkpoint(options.folder, architecture)
        for form in forms(architecture, options.quick):
            passed &= check(options.folder, architecture, model, form)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
