"""Checks retint against PyTorch, with seeded random weights.

    Scripts/check pytorch [--keep DIRECTORY] [--sample N] [--seed N] [ARCHITECTURE...]

Imports the weights, also from files of torch.save, and verifies the checkpoint and its packages
against PyTorch's output; then loads the weights, exported from the checkpoint and from a package,
into PyTorch again. The default is the two published networks and two smaller ones; --sample takes
one in N of the published ones, and of all others.

Networks are processed in parallel. Checkpoints, packages and reports (JSON) stay in DIRECTORY;
without it they are removed. The exit status is 1 when a tolerance is exceeded.
"""

import concurrent.futures
import filecmp
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import torch

import retint_options
import retint_tool
from retint_reference.networks import ARCHITECTURES

from . import weights

PUBLISHED, SMALLER = ("eccv16", "siggraph17"), ("mobile-unet", "lite-class-unet")
# Modules that packages leave out, because the colors do not depend on them.
OMITTED = {"siggraph17": "model_class"}
# A package holds the merged convolutions of these; PyTorch's network has the training-time
# branches.
MERGED = ("rep-unet",)
# With random weights, a temperature below 1 or dozens of folded convolutions in a row amplify
# rounding differences between processors; trained weights stay within the default tolerances.
TOLERANCES = {"class-unet": "1e-3", "lite-class-unet": "1e-3", "lite-unet": "2e-4",
              "mobile-unet": "2e-4"}
FIGURES = [("max_abs_error", "max", ".2e"), ("mean_abs_error", "mean", ".2e"),
           ("psnr_db", "PSNR", ".2f")]


class Network:
    """One network: its files, and what is said of it."""

    def __init__(self, name, folder):
        self.name, self.base = name, folder / name
        self.module = f"retint_reference.networks:{name.replace('-', '_')}"
        self.lines, self.passed = [], True

    def path(self, suffix):
        return self.base.with_name(self.base.name + suffix)

    def say(self, title, text, passed):
        self.lines.append(f"{title:42} {text}{'ok' if passed else 'FAILED'}")
        self.passed &= passed

    def check(self):
        """Makes the files and compares them; a line each."""
        self.make_weights()
        retint_tool.run(
            "import", self.path("-weights.h5"), "--architecture", self.name, "-o",
            self.path(".h5"))
        self.import_saved()
        reference = ("--reference", self.path("-reference.h5"))
        self.verify("checkpoint", self.path(".h5"), *reference)
        for precision in ("float32", "float16"):
            package = self.path(f"-{precision}.mlpackage")
            retint_tool.run("export", self.path(".h5"), "-o", package, "--precision", precision)
            self.verify(f"{precision} package", package, *reference)
            bound = TOLERANCES.get(self.name) if precision == "float32" else None
            self.verify(f"{precision} package to checkpoint", package, "--against",
                        self.path(".h5"), *(("--atol", bound) if bound else ()))
        self.verify("float16 package in float32", self.path("-float16.mlpackage"), *reference,
                    "--compute", "float32")
        self.check_weights()
        return self

    def make_weights(self):
        # In a process of its own, because it sets PyTorch's seed.
        subprocess.run(
            [sys.executable, "-m", "export_pytorch", "--module", self.module, "--randomize", "0",
             "--weights", self.path("-weights.h5"), "--reference", self.path("-reference.h5"),
             "--input", "input=1x1x256x256:0,100"], check=True)

    def verify(self, title, model, *options):
        """Verifies a model, says a line for each output, and keeps the report."""
        title = f"{self.name} {title}"
        report = retint_tool.report("verify", model, *options, status=(0, 2))
        path = self.base.with_name(f"{title.replace(' ', '-')}.json")
        path.write_text(json.dumps(report, indent=1) + "\n")
        color = report.get("delta_e2000_mean")
        color = "" if color is None else f"dE2000 {color:.2e}  "
        for output in report["outputs"].values():
            figures = "".join(
                f"{word} {'-' if output[key] is None else format(output[key], form)}  "
                for key, word, form in FIGURES)
            self.say(title, figures + color, report["passed"])

    def import_saved(self):
        """Imports the weights from files of torch.save; the checkpoint must be the same."""
        with h5py.File(self.path("-weights.h5")) as file:
            state = {f"module.{name}": torch.from_numpy(file[name][()]) if file[name].shape
                     else torch.tensor(file[name][()]) for name in file}
        # As a program saves it that trains on several GPUs, with some weights in another memory
        # order.
        state = {
            name: tensor.contiguous(memory_format=torch.channels_last) if tensor.ndim == 4
            else tensor for name, tensor in state.items()}
        optimizer = torch.optim.Adam([torch.nn.Parameter(torch.ones(2))]).state_dict()
        saved = {"epoch": 1, "state_dict": state, "optimizer": optimizer}
        same = True
        for is_archive in (True, False):
            path = self.path("-weights.pth")
            torch.save(saved, path, _use_new_zipfile_serialization=is_archive)
            retint_tool.run(
                "import", path, "--architecture", self.name, "-o", self.path("-saved.h5"))
            same &= filecmp.cmp(self.path(".h5"), self.path("-saved.h5"), shallow=False)
            path.unlink()
        self.say(f"{self.name} from torch.save", "", same)

    def check_weights(self):
        """Exports the weights, from the checkpoint and from a package, and loads them."""
        package = self.path("-unfolded.mlpackage")
        retint_tool.run("export", self.path(".h5"), "-o", package, "--no-fold")
        original = weights.read(str(self.path("-weights.h5")))
        for source, title, without in (
                (self.path(".h5"), "back", None),
                (package, "unpacked", OMITTED.get(self.name))):
            if title == "unpacked" and self.name in MERGED:
                continue
            for form in ("h5", "safetensors"):
                path = self.path(f"-{title}.{form}")
                retint_tool.run("export", source, "-o", path)
                found = weights.faults(str(path), self.module, original, without)
                self.say(f"{self.name} {title}.{form} in PyTorch", "".join(f"{f}; " for f in found),
                         not found)


def chosen(options):
    """The networks to check, if none are named."""
    if options.sample == 1:
        return [*PUBLISHED, *SMALLER]
    sample = retint_options.Sample(options, "pytorch")
    return sample.of(PUBLISHED) + sample.of(ARCHITECTURES.keys() - PUBLISHED)


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("networks", nargs="*", metavar="ARCHITECTURE")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIRECTORY")
    retint_options.add_sample(parser)
    options = parser.parse_args()
    networks = options.networks or chosen(options)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        passed = True
        # Two at a time; the lines of a network stay together.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [pool.submit(Network(name, folder).check) for name in networks]
            for job in jobs:
                network = job.result()
                print("\n".join(network.lines), flush=True)
                passed &= network.passed
    return 0 if passed else 1
