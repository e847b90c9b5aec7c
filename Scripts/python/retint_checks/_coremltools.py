"""Converts networks with the installed coremltools and has retint read the packages.

    python -m retint_checks._coremltools [--sample N --seed N] [--network NAME] [--keep DIRECTORY]

`Scripts/check reading` runs this once for each version of coremltools. retint inspects each
package, runs it and compares:

- plain packages with PyTorch's output, within retint's tolerances for the precision;
- packages with compressed weights with the package that coremltools decompresses, within much
  tighter tolerances, because decompression is exact.

What a version of coremltools cannot convert or compress is listed and does not count as a failure
(7 has no frontend for torch.export, and none writes sparse vector palettes). A run that writes
hardly any package fails.
"""

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import torch

import export_pytorch
import retint_options
import retint_tool

from ._coremltools_conversion import (
    FRONTENDS, PRECISIONS, TARGETS, VERSION, captured, convert, ct, cto, schemes)
from ._coremltools_networks import SIZE, network

NETWORKS = ("unet", "eccv16", "siggraph17")
# The compressions that are tried on the large networks.
FEW = ("int8", "palette4-uniform", "sparse", "int4-block")


class Checks:
    """Runs retint on packages and keeps count."""

    def __init__(self, retint, directory):
        self.retint, self.directory = retint, directory
        self.passed, self.failed, self.unavailable, self.worst = 0, [], [], {}

    def path(self, name):
        return os.path.join(self.directory, f"coremltools{VERSION}-{name}.mlpackage")

    def make(self, name, build):
        """Saves a package that coremltools builds and returns it; None if coremltools cannot."""
        try:
            model = build()
            self.save(model, name)
            return model
        except Exception as error:  # noqa: BLE001: converters fail in many ways
            text = f"{type(error).__name__}: {error}".splitlines()[0][:160]
            self.unavailable.append(f"{name}: {text}")
            return None

    def save(self, model, name):
        path = self.path(name)
        shutil.rmtree(path, ignore_errors=True)
        model.save(path)
        return path

    def run(self, *arguments):
        return subprocess.run(
            [self.retint, *arguments], capture_output=True, text=True, check=False
        )

    def check(self, name, *against):
        """Has retint inspect a package, run it and compare it."""
        path = self.path(name)
        for arguments in (["inspect", path, "--json"], ["inspect", path, "--placement"]):
            done = self.run(*arguments)
            if done.returncode != 0:
                return self.fail(name, done.stderr)
        done = self.run("verify", path, *against, "--json")
        if done.returncode not in (0, 2):
            return self.fail(name, done.stderr)
        report = json.loads(done.stdout)
        errors = [output["max_abs_error"] for output in report["outputs"].values()]
        if done.returncode != 0 or not report["passed"]:
            return self.fail(name, f"max |error| {errors}: {json.dumps(report['outputs'])[:300]}")
        kind = report.get("precision", "?")
        self.worst[kind] = max(self.worst.get(kind, 0), *errors)
        self.passed += 1
        return None

    def fail(self, name, text):
        self.failed.append(f"{name}: {text.strip()}")
        print(f"  FAILED {self.failed[-1]}", flush=True)

    def discard(self, *names):
        for name in names:
            shutil.rmtree(self.path(name), ignore_errors=True)


def check_plain(checks, name, combinations):
    """Some frontends, targets and precisions, against PyTorch."""
    module, inputs = network(name)
    reference = os.path.join(checks.directory, f"{name}-reference.h5")
    export_pytorch.reference(module, inputs, reference)
    example = inputs["lightness"]
    for frontend in FRONTENDS:
        chosen = [others for first, *others in combinations if first == frontend]
        if not chosen:
            continue
        try:
            source = captured(module, example, frontend)
        except Exception as error:  # noqa: BLE001
            checks.unavailable.append(f"{name}-{frontend}: {type(error).__name__}: {error}"[:200])
            continue
        for target, precision in chosen:
            title = f"{name}-{frontend}-{target}-{precision}"
            if checks.make(
                title, lambda: convert(source, target, precision, frontend)
            ) is None:
                continue
            checks.check(title, "--reference", reference)
            checks.discard(title)
    return module, example, reference


def check_interfaces(checks, name, module, example, reference, sample):
    """Image inputs and flexible shapes, at the default size."""
    traced = captured(module, example, "trace")
    sides = [ct.RangeDim(32, 256, SIZE) for _ in range(2)]
    kinds = {
        "image": {"image": True},
        "listed": {"flexible": ct.EnumeratedShapes(
            [(1, 1, 32, 32), (1, 1, SIZE, SIZE)], default=(1, 1, SIZE, SIZE))},
        "range": {"flexible": ct.Shape((1, 1, *sides), default=(1, 1, SIZE, SIZE))},
    }
    settings = [("iOS15", "float32"), ("iOS17", "float16")]
    for kind, (target, precision) in sample.of(itertools.product(kinds, settings)):
        title = f"{name}-{kind}-{target}-{precision}"
        if checks.make(title, lambda: convert(traced, target, precision, **kinds[kind])):
            checks.check(title, "--reference", reference)
            checks.discard(title)


def check_compressed(checks, name, source, targets, chosen=lambda names: names, **options):
    """Every compression, against the package that coremltools decompresses."""
    for target, precision in targets:
        base = f"{name}-{target}-{precision}"
        model = checks.make(base, lambda: convert(source, target, precision))
        if model is None:
            continue
        table = schemes(target, **options)
        for scheme in chosen(table):
            title, plain = f"{base}-{scheme}", f"{base}-{scheme}-plain"
            small = checks.make(title, lambda: table[scheme](model))
            if small is None:
                continue
            if checks.make(plain, lambda: cto.decompress_weights(small)) is not None:
                checks.check(
                    title, "--against", checks.path(plain), "--compute", "float32", "--atol",
                    "1e-4", "--rtol", "1e-5", "--min-psnr", "0",
                )
            checks.discard(title, plain)
        checks.discard(base)


def parse():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--keep", metavar="DIRECTORY", help="leave the packages there")
    parser.add_argument("--network", action="append", default=[], choices=NETWORKS)
    retint_options.add_sample(parser)
    return parser.parse_args()


def main():
    options = parse()
    start = time.monotonic()
    directory = options.keep or tempfile.mkdtemp()
    os.makedirs(directory, exist_ok=True)
    checks = Checks(retint_tool.RETINT, directory)
    if options.keep:
        checks.discard = lambda *_: None
    try:
        run(checks, options)
    finally:
        if not options.keep:
            shutil.rmtree(directory)
    for line in checks.unavailable:
        print(f"  coremltools {ct.__version__} does not make {line}")
    worst = ", ".join(f"{kind} {error:.2g}" for kind, error in sorted(checks.worst.items()))
    print(
        f"coremltools {ct.__version__}, torch {torch.__version__}: {checks.passed} packages read, "
        f"run and compared, {len(checks.failed)} failed, {len(checks.unavailable)} not made "
        f"(largest errors: {worst}) in {time.monotonic() - start:.0f} s",
        flush=True,
    )
    required = 5 if options.sample > 1 else 5 * len(options.network) if options.network else 10
    return 1 if checks.failed or checks.passed < required else 0


def run(checks, options):
    combinations = list(itertools.product(FRONTENDS, TARGETS, PRECISIONS))
    if options.sample > 1:
        return run_sample(checks, combinations, retint_options.Sample(options, "reading"))
    last = max(TARGETS)
    for name in options.network or NETWORKS:
        module, example, reference = check_plain(checks, name, combinations)
        source = captured(module, example, "trace")
        if name != "unet":
            # coremltools' default threshold: 7 fails on the vectors of these networks.
            check_compressed(checks, name, source, [(last, "float16")], few, threshold=2048)
            continue
        every = retint_options.Sample(options, "reading")
        check_interfaces(checks, name, module, example, reference, every)
        targets = {
            ("iOS16", "float32"), ("iOS17", "float16"), (last, "float32"), (last, "float16")
        }
        check_compressed(checks, name, source, sorted(targets))


def few(names):
    return [name for name in FEW if name in names]


def run_sample(checks, combinations, sample):
    """Some of all, most of it with a network of one step."""
    check_plain(checks, "unet", sample.of(combinations, 4))
    module, inputs = network("small")
    example, reference = inputs["lightness"], os.path.join(checks.directory, "small.h5")
    export_pytorch.reference(module, inputs, reference)
    check_interfaces(checks, "small", module, example, reference, sample)
    # Weights are compressed from iOS16 on.
    compressing = itertools.product(sorted(TARGETS)[1:], PRECISIONS)
    targets = sample.random.sample(list(compressing), 1)
    source = captured(module, example, "trace")
    check_compressed(
        checks, "small", source, targets, lambda names: sample.of(names, 4))
    # Converting a large network takes as long as all of a small one's.
    check_plain(checks, sample.random.choice(NETWORKS[1:]), sample.random.sample(combinations, 1))


if __name__ == "__main__":
    sys.exit(main())
