"""Sets up, lints, builds, and runs all tests in release mode.

    Scripts/check tests [--filter TESTS] [--sample N] [--seed S]

Scripts/test runs it, and continuous integration begins with it. Prints the tests that failed, the
slowest ones, and how long each step took. --filter runs only the tests whose names match it.
--sample takes one case in N of the long tables of operations, and one suite in N of those of
commands, by the seed. The exit status is 1 when a step fails.
"""

import os
import re
import subprocess
import sys
import time

import retint_build
import retint_options
import retint_tables
from retint_tool import ROOT

from . import _steps

# Tests with several ranks fail where they cannot run, instead of being skipped.
ENVIRONMENT = os.environ | {"RETINT_TESTS_MPI": "required"}
# A test's result as Swift Testing prints it; those of single arguments are left out.
RESULT = re.compile(r"^\S+ Test (?!run with |case passing )(.+?) (?:with \d+ test cases? )?"
                    r"(?:passed|failed) after ([\d.]+) seconds", re.MULTILINE)
ISSUE = re.compile(r"^.* recorded an issue .*(?:\n.*){0,2}", re.MULTILINE)
SLOWEST = 15


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--filter", metavar="TESTS")
    retint_options.add_sample(parser)
    options = parser.parse_args()
    sample = retint_options.Sample(options, "tests")
    steps = _steps.Steps()
    succeeded = run(steps, sample, ["--filter", options.filter] if options.filter else [])
    print(steps.table())
    return 0 if succeeded else 1


def run(steps, sample, choice=()):
    """Takes the steps until one fails; returns whether all succeed."""
    here = [sys.executable, "-m", "retint_checks"]
    return (
        steps.run("setup", "Scripts/setup", "--mpi")
        and steps.run("lint", "swift", "format", "lint", "--strict", "--parallel", "--recursive",
                      "Sources", "Tests", "Package.swift")
        # Its table is for readers; what is wrong comes on the standard error.
        and steps.run("imports", *here, "imports", "--quiet")
        and steps.run("version", *here, "version")
        # By product, because `swift test` alone would also build products of the dependencies. The
        # tests come first: their targets are compiled while those of the program wait for others.
        and steps.run("build", *build("retintPackageTests"))
        # What tests start, which their product does not link.
        and steps.run("programs", *build("retint"))
        and steps.run("library", *build("RetintC"))
        and steps.run("probe", *build("RetintRanksProbe"))
        and run_tests(steps, sample, choice))


def build(product):
    return "swift", "build", *retint_build.FLAGS, "--product", product


def run_tests(steps, sample, choice):
    """Runs the tests, and prints those that failed and the slowest ones."""
    environment = ENVIRONMENT | {
        "RETINT_TESTS_SAMPLE": str(sample.every), "RETINT_TESTS_SEED": str(sample.seed)}
    start = time.monotonic()
    print("== tests", flush=True)
    process = subprocess.Popen(
        ["swift", "test", *retint_build.FLAGS, "--skip-build", *choice], cwd=ROOT, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    lines = []
    for line in process.stdout:
        lines.append(line)
        print(line, end="", flush=True)
    succeeded = process.wait() == 0
    log = "".join(lines)
    for issue in ISSUE.findall(log):
        print(issue)
    print(f"\nThe slowest tests, which ran beside others:\n{slowest(log)}\n")
    steps.add("tests", time.monotonic() - start, succeeded)
    return succeeded


def slowest(log):
    """A table of the tests that took longest."""
    results = [(name, float(seconds)) for name, seconds in RESULT.findall(log)]
    longest = sorted(results, key=lambda result: -result[1])[:SLOWEST]
    rows = [(name, f"{seconds:.1f} s") for name, seconds in longest] or [("none", "")]
    return "\n".join(retint_tables.aligned(rows))
