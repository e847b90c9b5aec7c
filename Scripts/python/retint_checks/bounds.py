"""Checks the default bounds of `verify --against` in float32: they neither cry wolf nor sleep.

    Scripts/check bounds [--exports N] [--faults N] [--networks FOLDER] [--sample N] [--seed S]

Each architecture of retint is exported with random weights, at random widths and sizes, again and
again: each export has to pass. Then a fault is planted in an export, such as a weight that is off
by a thousandth of the range or a transposed kernel: `verify` has to fail, and to name the faulty
operation. --networks names a folder of `Scripts/compare networks`: faults are then also planted in
the packages there, which coremltools made, and compared with the ONNX files of the same networks.

Prints the largest errors of correct exports as multiples of what float32 itself loses, and each
fault that was missed or named wrongly. The exit status is 1 if a correct export fails, more than
one fault in a hundred is missed, or fewer than 95 in a hundred are named.
"""

import inspect
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import torch

import export_pytorch
import retint_options
import retint_tables
from retint_reference.networks import ARCHITECTURES, factory
from retint_tool import RETINT, run

from . import _faults

WIDTHS = (0.25, 0.5)
SIZES = (32, 64, 96)
# The size at which random weights are scaled.
CALIBRATED = 128
# A fault is named if it is the first value outside the tolerance, or one that follows at once, or
# if its weight is reported as changed.
MISSED, NAMED = 0.01, 0.95


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--exports", type=int, default=1000, metavar="N")
    parser.add_argument("--faults", type=int, default=200, metavar="N")
    parser.add_argument("--networks", type=pathlib.Path, metavar="FOLDER")
    retint_options.add_sample(parser)
    options = parser.parse_args()
    sample = retint_options.Sample(options, "bounds")
    numbers = sample.random
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(pathlib.Path(folder), numbers)
        for _ in range(max(1, options.exports // sample.every)):
            trials.export()
        for _ in range(max(1, options.faults // sample.every)):
            trials.fault()
        if options.networks:
            for _ in range(max(1, options.faults // sample.every)):
                trials.foreign_fault(options.networks)
    return 0 if trials.succeeded() else 1


class Trials:
    def __init__(self, folder, numbers):
        self.folder, self.random = folder, numbers
        self.exports, self.alarms, self.ratios = 0, [], []
        self.faults, self.missed, self.misnamed, self.smallest = 0, [], [], []

    def network(self, *options):
        """A checkpoint with random weights and its package in float32; what they are."""
        architecture = self.random.choice(sorted(ARCHITECTURES))
        parameters = inspect.signature(factory(architecture)).parameters
        width = {"width": self.random.choice(WIDTHS)} if "width" in parameters else {}
        # Networks of one width are large.
        size, seed = self.random.choice(SIZES if width else SIZES[:1]), self.random.randrange(10**6)
        weights, model = self.folder / "weights.h5", self.folder / "model.h5"
        package = self.folder / "model.mlpackage"
        torch.manual_seed(seed)
        module = factory(architecture)(**width).eval()
        lightness = 100 * torch.rand(1, 1, CALIBRATED, CALIBRATED)
        export_pytorch.randomize(module, {"input": lightness}, seed)
        export_pytorch.weights(module, weights)
        run("import", weights, "--architecture", architecture, "-o", model,
            *(["--width", width["width"]] if width else []))
        run("export", model, "-o", package, "--size", size, *options)
        return model, package, f"{architecture} {width.get('width', '')} at {size}, seed {seed}"

    def export(self):
        model, package, name = self.network()
        found = verify(package, "--against", model)
        self.exports += 1
        ratio = max(number(output["rounding_ratio"]) for output in found["outputs"].values())
        layers = [layer.get("rounding_ratio") or 0 for layer in found["layers"]]
        psnr = min(number(output["psnr_db"]) for output in found["outputs"].values())
        self.ratios.append((ratio, max(layers), psnr, name))
        is_alarm = not found["passed"] or "first_past_tolerance" in found
        if is_alarm:
            self.alarms.append(name)
        print(f"export of {name}: {ratio:.2f} times what float32 loses, {max(layers):.2f} in a "
              f"layer, {psnr:.1f} dB{'  FALSE ALARM' if is_alarm else ''}", flush=True)

    def fault(self):
        fault = self.random.choice(_faults.FAULTS)
        model, package, name = self.network(
            *(["--no-fold"] if fault is _faults.epsilon else []))
        self.judge(fault, package, model, name)

    def foreign_fault(self, networks):
        fault = self.random.choice(_faults.FAULTS)
        folder = self.random.choice(sorted(path for path in networks.iterdir() if path.is_dir()))
        package, other = folder / "coreml-15-float32.mlpackage", folder / "onnx-torchscript.onnx"
        if package.exists() and other.exists():
            if not verify(package, "--against", other, bounded=False):
                return
            self.judge(fault, package, other, f"{folder.name} of coremltools")

    def judge(self, fault, package, other, name):
        faulty = self.folder / "faulty.mlpackage"
        operation = _faults.plant(package, fault, self.random, faulty)
        if operation is None:
            return
        self.faults += 1
        found = verify(faulty, "--against", other)
        what = f"{fault.__name__} in {operation} of {name}"
        ratio = max(number(output.get("rounding_ratio", 0)) for output in found["outputs"].values())
        psnr = min(number(output["psnr_db"]) for output in found["outputs"].values())
        self.smallest.append((ratio, psnr, what))
        first = found.get("first_past_tolerance", {}).get("layer")
        verdict = ""
        if found["passed"]:
            self.missed.append(what)
            verdict = "  MISSED"
        if not named(found, first, operation):
            self.misnamed.append(what)
            verdict += f"  NOT NAMED, but {first}"
        print(f"{what}: {ratio:.2f} times what float32 loses, {psnr:.1f} dB{verdict}", flush=True)

    def succeeded(self):
        rows = [("largest ratio of an output", *max(self.ratios)[::3]),
                ("largest ratio of a layer", *max((r[1], r[3]) for r in self.ratios)),
                ("lowest PSNR of an output, dB", *min((r[2], r[3]) for r in self.ratios))]
        rows = [(what, f"{value:.2f}", name) for what, value, name in rows]
        print("\n".join(retint_tables.aligned(rows)))
        for ratio, psnr, what in sorted(self.smallest)[:5]:
            print(f"smallest fault: {ratio:.1f} times, {psnr:.1f} dB: {what}")
        print(f"{self.exports} correct exports, {len(self.alarms)} false alarms; {self.faults} "
              f"faults, {len(self.missed)} missed, {len(self.misnamed)} not named")
        return (not self.alarms and len(self.missed) <= max(1, MISSED * self.faults)
                and len(self.misnamed) <= max(1, (1 - NAMED) * self.faults))


def number(value):
    """JSON has null for an infinite number."""
    return float("inf") if value is None else float(value)


def named(found, first, operation):
    """Whether the first value outside the tolerance is the operation's or follows it at once."""
    layers = {layer["name"]: layer for layer in found["layers"]}
    changed = {weight["layer"] for weight in found.get("changed_weights", [])}
    return first == operation or operation in changed or (
        first in layers and operation in layers[first]["inputs"]
        and not layers[operation].get("compared_with"))


def verify(package, *options, bounded=True):
    """The report; without bounds, whether the two agree."""
    command = [RETINT, "verify", package, *options, "--json"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if not bounded:
        return done.returncode == 0
    if done.returncode not in (0, 2):
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return json.loads(done.stdout)
