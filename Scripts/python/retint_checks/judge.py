"""Has Apple's Core AI runtime check a file that Apple's exporter writes from PyTorch.

    Scripts/check judge

Needs Scripts/setup --coreai. A seeded network becomes a .aimodel, a checkpoint and a reference;

- Apple's runtime must agree with the reference, and with the checkpoint that retint runs,
- retint must agree too, and both must be in the report,
- both must agree with the checkpoint on what retint exports, in float32, float16 and int8, and
  state the same precision and arithmetic,
- a file whose weights are altered must fail with both,
- retint must agree, operation by operation, with what coreai-torch records of PyTorch,
- and coreai-torch must read what retint records.
"""

import contextlib
import hashlib
import io
import pathlib
import shutil
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import torch  # noqa: E402

import export_pytorch  # noqa: E402
import retint_options  # noqa: E402
import retint_tool  # noqa: E402
from coreai_torch import TorchConverter, get_decomp_table  # noqa: E402
from coreai_torch.debugging.torch_utils import (  # noqa: E402
    load_intermediates, save_intermediates)
from retint_reference.seeded import load_seeded, uniform  # noqa: E402
from retint_reference.students import PicoUNet  # noqa: E402

# Between Apple's runtime and PyTorch, for values up to 110.
BOUNDS = ["--atol", "0.001", "--max-mean", "0.0001"]
WIDTH = ["--architecture", "pico-unet", "--width", "0.0625"]


def expect(condition, message):
    if not condition:
        sys.exit(f"judge: {message}")


def prepare(folder):
    """Writes the network in all forms."""
    network = PicoUNet(width=0.0625).eval()
    load_seeded(network, 5)
    lightness = 100 * uniform(5, "lightness", (1, 1, 64, 64))
    export_pytorch.weights(network, folder / "weights.h5")
    export_pytorch.reference(network, {"lightness": lightness}, folder / "reference.h5")
    program = torch.export.export(network, (lightness,)).run_decompositions(get_decomp_table())
    with contextlib.redirect_stdout(io.StringIO()):
        converter = TorchConverter().add_exported_program(program)
        converter.to_coreai().save_asset(folder / "network.aimodel")
        save_intermediates(program, (lightness,), folder, model_name="pytorch")
    retint_tool.run("import", folder / "weights.h5", *WIDTH, "-o", folder / "network.h5")
    return network


def alter(folder, network):
    """Copies the file and changes its largest weights, and the hash to that of the new bytes."""
    altered = folder / "altered.aimodel"
    shutil.copytree(folder / "network.aimodel", altered)
    content = (altered / "main.mlirb").read_bytes()
    weight = max((w for w in network.parameters() if w.dim() == 4), key=torch.numel)
    old = weight.detach().numpy().tobytes()
    expect(content.count(old) == 1, "the weights are not found in main.mlirb")
    new = (1.1 * weight.detach().numpy()).astype(np.float32).tobytes()
    content = content.replace(old, new)
    (altered / "main.mlirb").write_bytes(content)
    (altered / "main.hash").write_bytes(hashlib.sha256(content).digest())
    return altered


def exported(folder):
    """What retint writes of the checkpoint itself."""
    for precision in ("float32", "float16"):
        path = folder / f"{precision}.aimodel"
        package = folder / f"{precision}.mlpackage"
        retint_tool.run("export", folder / "network.h5", "--size", "64", "--target", "iOS18",
                        "--precision", precision, "-o", package)
        retint_tool.run("export", package, "-o", path)
        yield f"exported in {precision}", path
        small = folder / f"{precision}-int8.aimodel"
        retint_tool.run("quantize", package, "--weights", "int8", "--threshold", "0", "-o", small)
        yield f"int8 weights in {precision}", small


def judges(report):
    """The reports of the judges, by name."""
    return {one["judge"]: one for one in report.get("judges", [report])}


def described(report):
    """The precision and the arithmetic that the judges state."""
    return {(one["precision"], one["compute"]) for one in judges(report).values()}


def verify(model, *options, status=(0,)):
    python = ["--judge-python", sys.executable] if "--judge" in options else []
    return retint_tool.report("verify", model, *options, *python, status=status)


def show(title, report):
    for one in judges(report).values():
        for name, output in one["outputs"].items():
            print(f"judge: {title}: {name} by {one['runtime']}: max {output['max_abs_error']:.2g}, "
                  f"mean {output['mean_abs_error']:.2g}", flush=True)


def main():
    retint_options.parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        network = prepare(folder)
        model, reference = folder / "network.aimodel", ["--reference", folder / "reference.h5"]
        against = ["--against", folder / "network.h5", "--size", "64"]
        for title, source in (("PyTorch", reference), ("checkpoint", against)):
            report = verify(model, *source, "--judge", "apple", *BOUNDS)
            expect(list(judges(report)) == ["apple"], "another judge than Apple's is named")
            show(title, report)
        report = verify(model, *reference, "--judge", "both", *BOUNDS)
        expect(list(judges(report)) == ["retint", "apple"], "a judge is missing")
        show("both", report)
        for title, own in exported(folder):
            report = verify(own, *against, "--judge", "both")
            expect(len(described(report)) == 1, f"the judges describe it as {described(report)}")
            show(title, report)
        bad = verify(alter(folder, network), *reference, "--judge", "both", *BOUNDS, status=(2,))
        expect(not any(one["passed"] for one in judges(bad).values()), "altered weights pass")
        show("altered weights", bad)
        layers = verify(
            folder / "network.h5", "--reference", folder / "pytorch.aimodelintermediates",
            "--layer-tolerance", "1e-4", "--intermediates", folder / "own.aimodelintermediates")
        trace = load_intermediates(folder / "own.aimodelintermediates")
        expect(len(trace.intermediates) == len(layers["layers"]) - 1, "values are not recorded")
        largest = abs(trace.outputs["ab"].numpy() - network(trace.inputs["lightness"])
                      .detach().numpy()).max()
        expect(largest < 1e-3, f"the recorded output is off by {largest}")
        print(f"judge: {layers['layers_compared']} operations agree with PyTorch's; coreai-torch "
              f"reads {len(trace.intermediates)} of retint's")
