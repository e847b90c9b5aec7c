"""Fuzzes what retint reads from outside with libFuzzer, under sanitizers.

    Scripts/check fuzz [TARGET...] [--seconds N] [--corpus FOLDER]
    Scripts/check fuzz --compile

The sanitizers are AddressSanitizer and, in C, UndefinedBehaviorSanitizer; the build is separate
(.build-fuzz). The second form only checks that the targets compile, against the modules of the
release build.

Runs each target, or all, for N seconds (60), and prints its executions, the edges and features
covered, and executions per second. The corpus is kept in FOLDER (.build-fuzz/corpus) from run
to run. A crash, a leak, more than 2 GiB or more than 10 seconds for one input is a finding: its
input is written to .build-fuzz/findings, from where it runs again with
`.build-fuzz/release/retint-fuzz TARGET FILE`. The exit status is 1 if there is one.
"""

import os
import pathlib
import platform
import re
import subprocess
import sys

import retint_build
import retint_options
import retint_tool
from retint_tool import ROOT

from . import sanitizers

PACKAGE = ROOT / "Scripts/fuzz"
BUILD = ROOT / ".build-fuzz"
FINDINGS = BUILD / "findings"
COVERAGE = "inline-8bit-counters,pc-table,trace-cmp"
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=1024", "-print_final_stats=1"]
# What is printed of the log of a finding.
REASONS = re.compile(r"ERROR: |Fatal error|runtime error|Test unit written")


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--corpus", type=pathlib.Path, default=BUILD / "corpus")
    parser.add_argument("--compile", action="store_true", help="only check that they compile")
    options = parser.parse_args()
    if options.compile:
        return compile_targets()
    build()
    FINDINGS.mkdir(parents=True, exist_ok=True)
    tool = retint_build.products(BUILD) / "retint-fuzz"
    listed = subprocess.run([tool, "--list"], check=True, capture_output=True, text=True)
    results = [fuzz(tool, name, options) for name in options.targets or listed.stdout.split()]
    return 0 if all(results) else 1


def compile_targets():
    sources = sorted((PACKAGE / "Sources").rglob("*.swift"))
    return subprocess.run(
        ["swiftc", "-typecheck", "-warnings-as-errors", "-swift-version", "6",
         "-enable-experimental-feature", "Extern", *retint_build.module_flags(), *sources],
        cwd=ROOT).returncode


def build():
    runtime = (retint_tool.toolchain() / "lib/swift/clang/lib/linux"
               / f"libclang_rt.fuzzer_no_main-{platform.machine()}.a")
    retint_build.build(
        "--package-path", PACKAGE, "--scratch-path", BUILD, "-c", "release", "--sanitize=address",
        "-Xswiftc", "-enable-testing", "-Xswiftc", f"-sanitize-coverage=edge,{COVERAGE}",
        "-Xcc", f"-fsanitize-coverage={COVERAGE}", *sanitizers.UNDEFINED,
        "-Xcc", "-fno-sanitize-recover=all", "-Xlinker", runtime, "-Xlinker", "-lstdc++")


def fuzz(tool, name, options):
    """Runs a target; prints its statistics and any finding. Returns whether it found nothing."""
    corpus, seeds, log = options.corpus / name, BUILD / "seeds" / name, BUILD / f"{name}.log"
    dictionary = PACKAGE / f"Dictionaries/{name}.dict"
    flags = [f"-max_total_time={options.seconds}", *LIMITS, f"-artifact_prefix={FINDINGS}/{name}-"]
    if dictionary.exists():
        flags.append(f"-dict={dictionary}")
    # libhdf5 loses memory of damaged files: not looked for after each, and left out at the end. The
    # target counts the objects that retint opens.
    if name == "hdf5":
        flags.append("-detect_leaks=0")
    for folder in (corpus, seeds):
        folder.mkdir(parents=True, exist_ok=True)
    # What is left at the end of a process that writes some files once does not count.
    if subprocess.run([tool, name, "--seeds", seeds],
                      env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}).returncode:
        return False
    # Backtraces of Swift would take seconds; libFuzzer has its own.
    environment = os.environ | {
        "LSAN_OPTIONS": sanitizers.leak_options(), "SWIFT_BACKTRACE": "enable=no"}
    with open(log, "w", encoding="utf8") as output:
        done = subprocess.run([tool, name, *flags, corpus, seeds], env=environment, stdout=output,
                              stderr=subprocess.STDOUT)
    report(name, log.read_text(errors="replace"), done.returncode == 0)
    return done.returncode == 0


def report(name, log, passed):
    """Prints a line of figures and, if there is a finding, what the log says of it."""
    covered = re.findall(r"cov: (\d+) ft: (\d+)", log)
    edges, features = covered[-1] if covered else (0, 0)
    figures = dict(re.findall(r"stat::(\w+):\s+(\d+)", log))
    print(f"{name:18} {'ok' if passed else 'FINDING':8} "
          f"{figures.get('number_of_executed_units', 0):>9} executions {edges:>6} edges "
          f"{features:>7} features {figures.get('average_exec_per_sec', 0):>6} /s", flush=True)
    if not passed:
        found = [line for line in log.splitlines() if REASONS.search(line)]
        print(*found[:3], sep="\n", file=sys.stderr)
