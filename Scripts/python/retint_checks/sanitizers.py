"""Runs the tests under sanitizers, each in its own build.

    Scripts/check sanitizers [address|thread|kernels] [TESTS...]

address  memory errors and leaks, and undefined behavior in C (.build-asan)
thread   data races, except in loops over arrays in C, which take long (.build-tsan)
kernels  data races including those loops; by default the operation tests (.build-kernels)

Without a name, one after the other. TESTS are test targets such as FilesTests, by default all: they
run one after the other, since together they take far longer. Prints a line for each, and writes
sanitizer reports to FOLDER/reports/TESTS.*. The exit status is 1 if a test fails or a sanitizer
reports anything. leaks.supp and races.supp beside this file list what is not a finding.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import time

import retint_build
import retint_options
from retint_tool import ROOT

HERE = pathlib.Path(__file__).resolve().parent
# Release: an unoptimized build would take hours.
COMMON = ["-c", "release", "-Xswiftc", "-enable-testing"]
UNDEFINED = ["-Xcc", "-fsanitize=undefined,float-cast-overflow"]
# Without the condition, locks of Swift's standard library look like races: see
# Sources/Foundation/Locks.
RACES = ["--sanitize=thread", "-Xswiftc", "-DTHREAD_SANITIZER"]


@dataclasses.dataclass
class Build:
    """A build with a sanitizer: its folder, its flags, and the tests that it runs by default."""

    folder: pathlib.Path
    flags: list
    tests: list | None = None


BUILDS = {
    "address": Build(ROOT / ".build-asan", ["--sanitize=address", *UNDEFINED]),
    "thread": Build(ROOT / ".build-tsan", [*RACES, "-Xcc", "-DRT_TRUSTS_LOOPS"]),
    "kernels": Build(ROOT / ".build-kernels", RACES, ["OperationTests"]),
}


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("words", nargs="*", metavar="NAME or TESTS")
    words = parser.parse_args().words
    names = [words.pop(0)] if words[:1] and words[0] in BUILDS else list(BUILDS)
    passed = True
    for name in names:
        print(f"== {name}", flush=True)
        build = BUILDS[name]
        # The executable is what some of the tests start.
        for product in ("retintPackageTests", "retint"):
            retint_build.build(
                "--scratch-path", build.folder, *COMMON, *build.flags, "--product", product)
        passed &= run(build.folder, words or build.tests or all_tests())
    return 0 if passed else 1


def all_tests():
    return sorted(name for name, target in retint_build.targets().items()
                  if target["type"] == "test")


def run(folder, tests):
    """Runs test targets; returns whether all pass, and nothing is reported."""
    reports = folder / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    return all([run_target(folder, reports, name) for name in tests])


def run_target(folder, reports, name):
    """Prints a line. `swift test` would not load the sanitizer's runtime."""
    start, log = time.monotonic(), reports / f"{name}.log"
    program = retint_build.products(folder) / "retintPackageTests.xctest"
    with open(log, "w", encoding="utf8") as output:
        done = subprocess.run(
            [program, "--testing-library", "swift-testing", "--filter", rf"^{name}\."], cwd=ROOT,
            stdout=output, stderr=subprocess.STDOUT, env=environment(reports / f"{name}.sanitizer"))
    passed = done.returncode == 0 and not list(reports.glob(f"{name}.sanitizer.*"))
    count = re.search(r"Test run with (\d+) tests? ", log.read_text(errors="replace"))
    print(f"{name:22} {'ok' if passed else 'FAILED':6} {count[1] if count else '?':>4} tests "
          f"{time.monotonic() - start:5.0f} s", flush=True)
    return passed


def environment(path):
    """The options of all sanitizers, which report to files that begin with a path."""
    log = f"log_path={path}"
    return os.environ | {
        "ASAN_OPTIONS": log, "UBSAN_OPTIONS": f"print_stacktrace=1 {log}",
        "TSAN_OPTIONS": f"halt_on_error=0 exitcode=66 {log} suppressions={HERE / 'races.supp'}",
        "LSAN_OPTIONS": leak_options()}


def leak_options():
    """What the search for leaks leaves out; `Scripts/check fuzz` uses it, too."""
    return f"suppressions={HERE / 'leaks.supp'} print_suppressions=0"
