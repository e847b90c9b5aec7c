"""Checks that retint reads and runs the packages that coremltools 7, 8 and 9 write.

    Scripts/check reading [--prepare | --sample N | --network NAME...] [--keep DIRECTORY]
        [VERSION...]

Converts networks with every frontend, precision and target, and compresses their weights in every
way. retint inspects each package, runs it and compares it with PyTorch's output or, if weights are
compressed, with the same package decompressed by coremltools.

VERSION is 7, 8 or 9; the default is all three. --sample takes small networks, one in N of the
versions, and one in N of their combinations. --network unet, eccv16 or siggraph17 runs only that
network, in full. --keep leaves the packages in DIRECTORY. Each version is installed in
.venv-coremltoolsVERSION, on top of .venv; --prepare does nothing else. The exit status is 1 when
retint cannot read or run a package, or computes other values.
"""

import concurrent.futures
import os
import subprocess
import sys

import retint_options
import retint_tool
from retint_tool import PYTHON, ROOT

VERSIONS = ("7", "8", "9")


def main():
    options = parse()
    sample = retint_options.Sample(options, "reading")
    versions = options.versions or sample.of(VERSIONS)
    for version in versions:
        prepare(version)
    if options.prepare:
        return 0
    passed = [("--keep", options.keep)] if options.keep else []
    passed += [("--network", name) for name in options.network]
    if options.sample > 1:
        passed += [("--sample", options.sample), ("--seed", sample.seed)]
    words = [str(word) for pair in passed for word in pair]
    with concurrent.futures.ThreadPoolExecutor(len(versions)) as pool:
        jobs = [pool.submit(check, version, words) for version in versions]
        results = [job.result() for job in jobs]
    for done in results:
        print(done.stdout, end="", flush=True)
    return max(done.returncode != 0 for done in results)


def parse():
    parser = retint_options.parser(__doc__)
    parser.add_argument("versions", nargs="*", metavar="VERSION")
    parser.add_argument("--prepare", action="store_true", help="install the versions")
    parser.add_argument("--network", action="append", default=[],
                        choices=["unet", "eccv16", "siggraph17"], help="may be repeated")
    parser.add_argument("--keep", metavar="DIRECTORY", type=os.path.abspath)
    retint_options.add_sample(parser)
    options = parser.parse_args()
    for version in options.versions:
        if version not in VERSIONS:
            parser.error(f"there is no version {version}; choose from {', '.join(VERSIONS)}")
    return options


def check(version, words):
    """Checks one version, which uses one processor; returns its process."""
    return subprocess.run(
        [retint_tool.coremltools_python(version), "-W", "ignore", "-m",
         "retint_checks._coremltools", *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"})


def prepare(version):
    """Makes a version's environment unless it exists."""
    retint_tool.make_environment(
        retint_tool.coremltools_python(version).parents[1],
        ROOT / f"Scripts/python/requirements-coremltools{version}.txt")
