"""Exports and quantizes checkpoints, and has coremltools check the packages.

    Scripts/check exports [--sample N] [--seed N] CHECKPOINT|FOLDER...

FOLDER is one in which `Scripts/check pytorch --keep` has left checkpoints.

For a small network it tries all combinations of target, precision, input and output, and every
quantization. For a large one, which would take long and cover nothing new, it tries each pair of
settings once; the first large one is also quantized, once to each kind of stored weights. --sample
takes one in N of the packages of each checkpoint.

Checkpoints are processed in parallel. `Scripts/check mlpackage` is what checks the packages. The
exit status is 1 when a package is refused.
"""

import concurrent.futures
import itertools
import pathlib
import shutil
import subprocess
import sys
import tempfile

import retint_options
import retint_tool

TARGETS = ("iOS15", "iOS16", "iOS17", "iOS18", "iOS26")
PRECISIONS, INPUTS, OUTPUTS = ("float32", "float16"), ("tensor", "image"), ("ab", "split")
# The bytes of a large network's checkpoint, at least.
LARGE = 16_000_000

# Options of `quantize`, one call a line, for each target.
IOS16 = """
    --weights float16
    --weights int8
    --weights int8 --granularity per-tensor
    --weights int8 --mode linear
    --weights uint8
    --weights uint8 --mode linear
    --weights palette8 --palette-mode uniform
    --weights palette6
    --weights palette4
    --weights palette2
    --weights palette1
    --sparsity 0.5"""
QUANTIZATIONS = {
    "iOS15": "",
    "iOS16": IOS16,
    "iOS17": """
        --weights int8
        --weights palette4
        --sparsity 0.5""",
    "iOS18": """
        --weights int4
        --weights int4 --granularity per-block
        --weights uint4 --granularity per-tensor --mode linear
        --weights int8 --granularity per-block --block-size 16
        --weights palette4 --granularity per-group --block-size 8
        --weights palette3
        --weights int8 --sparsity 0.5
        --weights uint4 --granularity per-block --sparsity 0.5
        --weights palette4 --sparsity 0.5""" + IOS16,
    "iOS26": "--weights int4",
}
LARGE_QUANTIZATIONS = {
    "iOS16": """
        --weights int8
        --sparsity 0.5""",
    "iOS18": """
        --weights int8
        --weights int4 --granularity per-block
        --weights palette4
        --sparsity 0.5
        --weights int8 --sparsity 0.5""",
}
# More options of `export`, one call a line.
MORE_EXPORTS = """
    --min-size 64 --max-size 512x256
    --sizes 128,256x64 --input image
    --sizes 64,64x128 --precision float16 --keep-float32-types conv
    --height 64 --width 128 --normalization outside
    --size 64 --normalization outside --input image --output-form split --precision float16
    --size 64 --input image --image-scale 0.5 --image-bias -0.5
    --size 64 --precision float16 --keep-float32 *conv2d --keep-float32 *relu
    --size 64 --no-fold
    --size 64 --no-fold --precision float16 --clamp"""
# Each pair of target, precision, input and output settings once.
PAIRS = """
    iOS15-float32-tensor-ab iOS15-float16-image-split iOS16-float32-image-ab
    iOS16-float16-tensor-split iOS17-float32-tensor-split iOS17-float16-image-ab
    iOS18-float32-image-split iOS18-float16-tensor-ab iOS26-float16-image-ab""".split()
# What quantizations start from.
PLAIN = ("float32", "tensor", "ab")


def calls(text):
    """The options of each call, from a line each."""
    return [line.split() for line in text.splitlines() if line.strip()]


class Checkpoint:
    """A checkpoint and the packages that are made of it."""

    def __init__(self, path, folder, is_quantized, sample):
        self.path, self.folder, self.sample = path, folder, sample
        self.name, self.is_large = path.stem, path.stat().st_size >= LARGE
        self.quantizations = {} if self.is_large and not is_quantized else (
            LARGE_QUANTIZATIONS if self.is_large else QUANTIZATIONS)
        self.packages = []

    def check(self):
        """Makes the packages, and has coremltools check all in one run of Python."""
        for make, *arguments in self.chosen():
            make(*arguments)
        if self.sample.every == 1 or self.sample.random.random() < 1 / self.sample.every:
            self.combine()
        done = subprocess.run(
            [sys.executable, "-m", "retint_checks", "mlpackage", *self.packages],
            capture_output=True, text=True)
        lines = done.stdout.splitlines()
        if done.returncode:
            print(*(line for line in lines if not line.startswith("passed ")), sep="\n")
            print(done.stderr, file=sys.stderr)
        else:
            print(f"{self.name}: coremltools accepts {len(self.packages)} packages", flush=True)
        for package in set(self.packages):
            shutil.rmtree(package)
        return done.returncode == 0

    def chosen(self):
        """What is to be made: methods with their arguments."""
        all_settings = [
            settings for settings in itertools.product(TARGETS, PRECISIONS, INPUTS, OUTPUTS)
            if not self.is_large or "-".join(settings) in PAIRS]
        yield from ((self.export, *settings) for settings in self.sample.of(all_settings))
        yield from ((self.quantize, target, number, options) for target, number, options in
                    self.sample.of(self.listed(self.quantizations)))
        if not self.is_large:
            more = self.listed({target: MORE_EXPORTS for target in TARGETS})
            yield from ((self.export_more, *call) for call in self.sample.of(more))

    def listed(self, texts):
        """Each target with the number and the options of each of its calls."""
        return [(target, number, options) for target, text in texts.items()
                for number, options in enumerate(calls(text), 1)]

    def run(self, command, source, package, *options):
        retint_tool.run(command, source, "-o", package, *options)
        self.packages.append(package)
        return package

    def export(self, target, precision, kind, output):
        package = self.folder / f"{self.name}-{target}-{precision}-{kind}-{output}.mlpackage"
        if package in self.packages:
            return package
        return self.run("export", self.path, package, "--target", target, "--precision", precision,
                        "--input", kind, "--output-form", output)

    def export_more(self, target, number, options):
        package = self.folder / f"{self.name}-{target}-more{number}.mlpackage"
        self.run("export", self.path, package, "--target", target, *options)

    def quantize(self, target, number, options):
        source = self.export(target, *PLAIN)
        package = source.with_name(f"{source.stem}-quantized{number}.mlpackage")
        self.run("quantize", source, package, *options)

    def combine(self):
        """The last target's interface of integers, and two sizes as functions of one package."""
        parts = []
        for size in (64, 128):
            package = self.folder / f"{self.name}-int8-{size}.mlpackage"
            self.run("export", self.path, package, "--target", TARGETS[-1], "--size", size,
                     "--element-type", "int8")
            parts.append(f"size{size}={package}")
        package = self.folder / f"{self.name}-functions.mlpackage"
        retint_tool.run("combine", *parts, "-o", package)
        self.packages.append(package)


def found(place):
    """A checkpoint, or those in a folder of `Scripts/check pytorch`."""
    if not place.is_dir():
        return [place]
    return [path for path in sorted(place.glob("*.h5"))
            if path.with_name(f"{path.stem}-weights.h5").exists()]


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("checkpoints", nargs="+", type=pathlib.Path, metavar="CHECKPOINT")
    retint_options.add_sample(parser)
    options = parser.parse_args()
    paths = [path for place in options.checkpoints for path in found(place)]
    sample = retint_options.Sample(options, "exports")
    first_large = next(
        (path for path in paths if path.stat().st_size >= LARGE), None)
    if not paths:
        parser.error(f"there is no checkpoint in {options.checkpoints[0]}")
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = [
            Checkpoint(path, pathlib.Path(folder), path == first_large,
                       sample.part(path.stem))
            for path in paths]
        with concurrent.futures.ThreadPoolExecutor(len(checkpoints)) as pool:
            results = list(pool.map(Checkpoint.check, checkpoints))
    return 0 if all(results) else 1
