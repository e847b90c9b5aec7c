"""Checks the ONNX files that retint writes, with onnx's checker and ONNX Runtime.

    Scripts/check onnx-export [--sample N] [--seed N] [--cases DIRECTORY] [--record]
        [ARCHITECTURE...]

Each network is written in float32 and float16, and with its weights compressed in several ways,
with random weights and small sizes. ONNX Runtime's outputs are compared with those of the package
that was translated, as retint runs it, and with the checkpoint's; a network with quantized
activations must give the same bits. Then single operations of MIL are tried with every opset.

--sample takes one in N of the networks, of the forms of each, and of the operations. --cases names
a folder that RetintONNXCaseWriter wrote before; --record takes the files that pass as those that
the tests expect. The exit status is 1 when a file is not valid or a bound is exceeded.
"""

import inspect
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy
import torch
from PIL import Image

import export_pytorch
import retint_build
import retint_onnx
import retint_options
from retint_onnx import activations, cases
from retint_reference.networks import ARCHITECTURES, factory
from retint_tool import ROOT, report, run

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


# Forms of networks that have but one width.
FEW = ("float32", "float16", "int8")


def is_narrow(architecture):
    """Whether there is a narrow one of that architecture."""
    return "width" in inspect.signature(factory(architecture)).parameters


def forms(architecture):
    return FORMS if is_narrow(architecture) else FEW


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


def check_w8a8(folder):
    """Whether ONNX Runtime's outputs of a calibrated package with int8 weights and activations are
    the package's, but for values that are rounded to the other neighbor."""
    photos = folder / "photos"
    photos.mkdir()
    generator = numpy.random.default_rng(0)
    for index in range(4):
        coarse = generator.integers(0, 256, (6, 6, 3), numpy.uint8)
        image = Image.fromarray(coarse).resize((SIZE, SIZE), Image.Resampling.BICUBIC)
        image.save(photos / f"{index}.png")
    model = checkpoint(folder, "mobile-unet")
    source, package, network = (
        folder / name for name in ("plain.mlpackage", "w8a8.mlpackage", "w8a8.onnx"))
    run("export", model, "-o", source, "--size", SIZE, "--target", "iOS17")
    run("quantize", source, "-o", package, "--weights", "int8", "--activations", "int8",
        "--calibrate", photos)
    run("export", package, "-o", network)
    retint_onnx.check(network)
    values = retint_onnx.lightness([1, 1, SIZE, SIZE])
    outputs = retint_onnx.run(network, values, optimizes=False)
    reference = write_reference(folder, values, outputs)
    figures = psnr(package, "--reference", reference), psnr(package, "--against", model)
    passed = figures[0] >= max(50, figures[1] + 6)
    print(f"{'mobile-unet':16} int8 weights and activations   PSNR {figures[0]:6.1f} dB against "
          f"the package, which has {figures[1]:6.1f} dB against the checkpoint  "
          f"{'ok' if passed else 'FAILED'}", flush=True)
    return passed


def check_cases(folder, sample):
    """Whether the files of single operations are right; prints those that are not."""
    found = sample.of(cases.read(folder))
    faults = [(case, cases.fault(folder, case)) for case in found]
    faults = [(case, fault) for case, fault in faults if fault]
    for case, fault in faults:
        print(f"{case['name']}, opset {case['opset']}: {fault}")
    print(f"{len(found)} files of single operations, {len(faults)} of them wrong")
    return not faults


def write_cases(folder):
    """Has RetintONNXCaseWriter write the files of single operations."""
    folder.mkdir()
    retint_build.build(*retint_build.FLAGS, "--product", "RetintONNXCaseWriter")
    subprocess.run([retint_build.products() / "RetintONNXCaseWriter", folder], check=True)
    return folder


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--cases", type=pathlib.Path, metavar="DIRECTORY")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("architectures", nargs="*", metavar="ARCHITECTURE")
    retint_options.add_sample(parser)
    options = parser.parse_args()
    sample = retint_options.Sample(options, "onnx-export")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        written = options.cases or write_cases(folder / "cases")
        if options.record:
            script = ROOT / "Tests/ONNXWritingTests/Goldens/record_approved.py"
            subprocess.run([sys.executable, script, written], check=True)
        passed = check_cases(written, sample)
        passed &= check_activations(folder)
        passed &= check_w8a8(folder)
        for architecture in options.architectures or sample.of(ARCHITECTURES):
            model = checkpoint(folder, architecture)
            for form in sample.of(forms(architecture)):
                passed &= check(folder, architecture, model, form)
    return 0 if passed else 1
