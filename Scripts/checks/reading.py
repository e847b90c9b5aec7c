#!/usr/bin/env python3
"""Converts networks with the installed coremltools and has retint read the packages.

`Scripts/checks/reading` runs this once for each version of coremltools. retint inspects each
package, runs it and compares:

- plain packages with PyTorch's output, within retint's tolerances for the precision;
- packages with compressed weights with the package that coremltools decompresses, within much
  tighter tolerances, because decompression is exact.

What a version of coremltools cannot convert or compress is listed and does not count as a failure
(7 has no frontend for torch.export, and none writes sparse vector palettes). A run that writes
hardly any package fails.
"""

import argparse
import functools
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import torch
import tqdm
from torch import nn

# coremltools warns about each part that only works on a Mac, and shows a bar for each pass.
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
tqdm.tqdm.__init__ = functools.partialmethod(tqdm.tqdm.__init__, disable=True)
import coremltools as ct  # noqa: E402
import coremltools.optimize.coreml as cto  # noqa: E402
import export_pytorch  # noqa: E402

VERSION = int(ct.__version__.split(".")[0])
SIZE = 64
TARGETS = {
    name: getattr(ct.target, name) for name in ("iOS15", "iOS16", "iOS17", "iOS18")
    if hasattr(ct.target, name)
}
PRECISIONS = {"float32": ct.precision.FLOAT32, "float16": ct.precision.FLOAT16}
FRONTENDS = ["trace", "export"]


# Networks


class InvertedResidual(nn.Module):
    """MobileNetV2's block: expand, depthwise, project; a residual sum if shapes match."""

    def __init__(self, inputs, outputs, stride=1, expansion=4):
        super().__init__()
        expanded = inputs * expansion
        self.body = nn.Sequential(
            nn.Conv2d(inputs, expanded, 1, bias=False), nn.BatchNorm2d(expanded), nn.ReLU6(),
            nn.Conv2d(expanded, expanded, 3, stride, 1, groups=expanded, bias=False),
            nn.BatchNorm2d(expanded), nn.ReLU6(),
            nn.Conv2d(expanded, outputs, 1, bias=False), nn.BatchNorm2d(outputs),
        )
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.adds else self.body(x)


class Gate(nn.Module):
    """Squeeze and excitation with hard activations."""

    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, channels // 4, 1), nn.Hardswish(),
            nn.Conv2d(channels // 4, channels, 1), nn.Hardsigmoid(),
        )

    def forward(self, x):
        return x * self.body(x)


class UNet(nn.Module):
    """A U-Net of MobileNetV2's blocks, from lightness (0...100) to ab.

    Each decoder step upsamples differently: bilinear, nearest, pixel shuffle, transposed
    convolution; a network of fewer steps uses the last ones.
    """

    def __init__(self, steps=4):
        super().__init__()
        self.first = 4 - steps
        widths = [16, 24, 32, 48, 64][: steps + 1]
        self.stem = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU6()
        )
        self.down = nn.ModuleList(
            nn.Sequential(InvertedResidual(a, b, 2), InvertedResidual(b, b))
            for a, b in zip(widths, widths[1:])
        )
        self.gate = Gate(widths[-1])
        self.shuffle = nn.Conv2d(32, 32 * 4, 1)
        self.transposed = nn.ConvTranspose2d(24, 24, 4, 2, 1)
        self.up = nn.ModuleList(
            InvertedResidual(a + b, b) for a, b in zip(widths[:0:-1], widths[-2::-1])
        )
        self.head = nn.Sequential(nn.Conv2d(16, 2, 1), nn.Tanh())

    def larger(self, x, step):
        if step == 0:
            return nn.functional.interpolate(x, scale_factor=2, mode="bilinear")
        if step == 1:
            return nn.functional.interpolate(x, scale_factor=2, mode="nearest")
        if step == 2:
            return nn.functional.pixel_shuffle(self.shuffle(x), 2)
        return self.transposed(x)

    def forward(self, lightness):
        x = self.stem(lightness / 100 - 0.5)
        skips = []
        for block in self.down:
            skips.append(x)
            x = block(x)
        x = self.gate(x)
        for step, (block, skip) in enumerate(zip(self.up, reversed(skips))):
            x = block(torch.cat([self.larger(x, self.first + step), skip], dim=1))
        return self.head(x) * 110


def network(name):
    """A network with seeded weights, and its input."""
    torch.manual_seed(0)
    made = {"unet": UNet, "small": lambda: UNet(steps=1)}
    module = made[name]() if name in made else export_pytorch.load_module(f"colorizers:{name}")
    module.eval()
    inputs = export_pytorch.random_inputs([("lightness", (1, 1, SIZE, SIZE), (0, 100))], 0)
    export_pytorch.randomize(module, inputs, 0)
    return module.eval(), inputs


# Conversion


def captured(module, example, frontend):
    if frontend == "trace":
        with torch.no_grad():
            return torch.jit.trace(module, example)
    return torch.export.export(module, (example,)).run_decompositions({})


def convert(source, target, precision, frontend="trace", image=False, flexible=None):
    shape = (1, 1, SIZE, SIZE)
    options = {"outputs": [ct.TensorType(name="ab")]}
    if image:
        options["inputs"] = [
            ct.ImageType(
                name="lightness", shape=shape, scale=100 / 255,
                color_layout=ct.colorlayout.GRAYSCALE,
            )
        ]
    elif frontend == "trace":
        options["inputs"] = [ct.TensorType(name="lightness", shape=flexible or shape)]
    return ct.convert(
        source, convert_to="mlprogram", minimum_deployment_target=TARGETS[target],
        compute_precision=PRECISIONS[precision], skip_model_load=True, **options,
    )


def quantizer(threshold, mode, dtype, **options):
    def compress(model):
        config = cto.OpLinearQuantizerConfig(
            mode=mode, dtype=dtype if VERSION > 7 else np.dtype(dtype).type,
            weight_threshold=threshold, **options,
        )
        return cto.linear_quantize_weights(
            model, cto.OptimizationConfig(global_config=config), **joint(model)
        )

    return compress


def palettizer(threshold, mode, bits, **options):
    def compress(model):
        config = cto.OpPalettizerConfig(
            mode=mode, nbits=bits, weight_threshold=threshold, **options
        )
        return cto.palettize_weights(
            model, cto.OptimizationConfig(global_config=config), **joint(model)
        )

    return compress


def pruner(threshold, sparsity):
    def compress(model):
        config = cto.OpMagnitudePrunerConfig(target_sparsity=sparsity, weight_threshold=threshold)
        return cto.prune_weights(model, cto.OptimizationConfig(global_config=config))

    return compress


def both(first, second):
    return lambda model: second(first(model))


def joint(model):
    """The option that lets a second compression build on the first."""
    main = model.get_spec().mlProgram.functions["main"]
    kinds = [
        operation.type for operation in main.block_specializations[main.opset].operations
    ]
    return {"joint_compression": True} if any(k.startswith("constexpr_") for k in kinds) else {}


def schemes(target, threshold=64):
    """Compressions that a target supports, by name, for weights of `threshold` elements or more."""
    linear, palette, pruned = (
        functools.partial(kind, threshold) for kind in (quantizer, palettizer, pruner)
    )
    table = {
        "int8": linear("linear_symmetric", "int8"),
        "int8-linear": linear("linear", "int8"),
        "uint8-linear": linear("linear", "uint8"),
        "sparse": pruned(0.6),
    }
    for bits in (1, 2, 4, 6, 8):
        table[f"palette{bits}-uniform"] = palette("uniform", bits)
        table[f"palette{bits}-kmeans"] = palette("kmeans", bits)
    if VERSION > 7:
        table["uint8-per-tensor"] = linear("linear", "uint8", granularity="per_tensor")
    if target != "iOS18":
        return table
    table.update(
        {
            "int4": linear("linear_symmetric", "int4"),
            "uint4-linear": linear("linear", "uint4", granularity="per_tensor"),
            "int4-block": linear(
                "linear_symmetric", "int4", granularity="per_block", block_size=8
            ),
            "int8-block": linear("linear", "int8", granularity="per_block", block_size=16),
            "palette3": palette("kmeans", 3),
            "palette4-grouped": palette(
                "kmeans", 4, granularity="per_grouped_channel", group_size=8
            ),
            "palette4-grouped-inputs": palette(
                "kmeans", 4, granularity="per_grouped_channel", group_size=8, channel_axis=1
            ),
            "palette6-scaled": palette("kmeans", 6, enable_per_channel_scale=True),
            "palette2-vectors": palette("kmeans", 2, cluster_dim=4),
            "palette4-int8-table": both(
                palette("kmeans", 4),
                linear("linear_symmetric", "int8", granularity="per_tensor"),
            ),
            "sparse-palette4": both(pruned(0.6), palette("kmeans", 4)),
            "sparse-palette2-vectors": both(pruned(0.6), palette("kmeans", 2, cluster_dim=4)),
            "sparse-int8": both(pruned(0.6), linear("linear_symmetric", "int8")),
            "sparse-int4": both(pruned(0.6), linear("linear_symmetric", "int4")),
        }
    )
    return table


# Checks


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


def quick_choice(name):
    """The plain packages of --quick: each frontend, target and precision at least once."""
    first, last = min(TARGETS), max(TARGETS)
    choice = {(name, "trace", first, "float32"), (name, "export", last, "float16")}
    if name == "unet":
        choice |= {(name, "trace", "iOS17", "float16"), (name, "export", "iOS16", "float32")}
    return choice


def check_plain(checks, name, quick):
    """Every frontend, target and precision, against PyTorch."""
    module, inputs = network(name)
    reference = os.path.join(checks.directory, f"{name}-reference.h5")
    export_pytorch.reference(module, inputs, reference)
    example = inputs["lightness"]
    for frontend in FRONTENDS:
        try:
            source = captured(module, example, frontend)
        except Exception as error:  # noqa: BLE001
            checks.unavailable.append(f"{name}-{frontend}: {type(error).__name__}: {error}"[:200])
            continue
        for target in TARGETS:
            for precision in PRECISIONS:
                if quick and (name, frontend, target, precision) not in quick_choice(name):
                    continue
                title = f"{name}-{frontend}-{target}-{precision}"
                if checks.make(
                    title, lambda: convert(source, target, precision, frontend)
                ) is None:
                    continue
                checks.check(title, "--reference", reference)
                checks.discard(title)
    return module, example, reference


def check_interfaces(checks, name, module, example, reference, quick):
    """Image inputs and flexible shapes, at the default size."""
    traced = captured(module, example, "trace")
    sides = [ct.RangeDim(32, 256, SIZE) for _ in range(2)]
    kinds = {
        "image": {"image": True},
        "listed": {"flexible": ct.EnumeratedShapes(
            [(1, 1, 32, 32), (1, 1, SIZE, SIZE)], default=(1, 1, SIZE, SIZE))},
        "range": {"flexible": ct.Shape((1, 1, *sides), default=(1, 1, SIZE, SIZE))},
    }
    for kind, options in kinds.items():
        for target, precision in [("iOS15", "float32"), ("iOS17", "float16")][: 1 if quick else 2]:
            title = f"{name}-{kind}-{target}-{precision}"
            if checks.make(title, lambda: convert(traced, target, precision, **options)):
                checks.check(title, "--reference", reference)
                checks.discard(title)


def quick_schemes(target):
    """The compressions of --quick: version 7 is slow, 9 runs them all."""
    if VERSION == 7:
        return ["int8", "uint8-linear", "sparse", "palette1-kmeans", "palette6-uniform"]
    if VERSION == 8:
        return schemes(target).keys() - schemes("iOS17").keys()
    return schemes(target).keys()


def check_compressed(checks, name, source, targets, chosen=None, **options):
    """Every compression, against the package that coremltools decompresses."""
    for target, precision in targets:
        base = f"{name}-{target}-{precision}"
        model = checks.make(base, lambda: convert(source, target, precision))
        if model is None:
            continue
        for scheme, compress in schemes(target, **options).items():
            if chosen is not None and scheme not in chosen:
                continue
            title, plain = f"{base}-{scheme}", f"{base}-{scheme}-plain"
            small = checks.make(title, lambda: compress(model))
            if small is None:
                continue
            if checks.make(plain, lambda: cto.decompress_weights(small)) is not None:
                checks.check(
                    title, "--against", checks.path(plain), "--compute", "float32", "--atol",
                    "1e-4", "--rtol", "1e-5", "--min-psnr", "0",
                )
            checks.discard(title, plain)
        checks.discard(base)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--retint", required=True)
    parser.add_argument(
        "--quick", action="store_true", help="skip most combinations of the large networks"
    )
    parser.add_argument("--keep", metavar="DIRECTORY", help="leave the packages there")
    parser.add_argument(
        "--network", action="append", choices=["unet", "eccv16", "siggraph17"],
        help="only this network, in full; may be repeated",
    )
    options = parser.parse_args()
    start = time.monotonic()
    directory = options.keep or tempfile.mkdtemp()
    os.makedirs(directory, exist_ok=True)
    checks = Checks(options.retint, directory)
    if options.keep:
        checks.discard = lambda *_: None
    try:
        run(checks, options.quick, options.network or ["unet", "eccv16", "siggraph17"])
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
    required = 5 * len(options.network) if options.network else 10
    return 1 if checks.failed or checks.passed < required else 0


def run(checks, quick, networks):
    last = max(TARGETS)
    if quick:
        check_plain(checks, "unet", quick)
        module, inputs = network("small")
        example, reference = inputs["lightness"], os.path.join(checks.directory, "small.h5")
        export_pytorch.reference(module, inputs, reference)
        check_interfaces(checks, "small", module, example, reference, quick)
        target = {7: ("iOS16", "float16"), 8: (last, "float32"), 9: (last, "float16")}[VERSION]
        source = captured(module, example, "trace")
        check_compressed(checks, "small", source, [target], quick_schemes(target[0]))
        check_plain(checks, "eccv16", quick)
        return
    chosen = ["int8", "palette4-uniform", "sparse", "int4-block"]
    for name in networks:
        module, example, reference = check_plain(checks, name, quick)
        source = captured(module, example, "trace")
        if name != "unet":
            # coremltools' default threshold: 7 fails on the vectors of these networks.
            check_compressed(checks, name, source, [(last, "float16")], chosen, threshold=2048)
            continue
        check_interfaces(checks, name, module, example, reference, quick)
        targets = {
            ("iOS16", "float32"), ("iOS17", "float16"), (last, "float32"), (last, "float16")
        }
        check_compressed(checks, name, source, sorted(targets))


if __name__ == "__main__":
    sys.exit(main())
