"""Finds the programs that scripts run, and runs retint.

Variables of the environment name others: RETINT, PYTHON and COREAI_PYTHON.
"""

import filecmp
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Kinds of damage of old photos: the shares of `old_photo` and the values of `--old-photo`.
DAMAGES = ("sepia", "fading", "blur", "grain", "scratches", "dust", "jpeg")


def named(variable, default):
    """The absolute path of the program that a variable names, or of a default one in ROOT."""
    name = os.environ.get(variable) or str(ROOT / default)
    # Not resolved: a virtual environment's Python is a link.
    return os.path.abspath(shutil.which(name) or name)


# The executable of the release build, and the Pythons that the options of Scripts/setup make.
RETINT = named("RETINT", ".build/release/retint")
PYTHON = named("PYTHON", ".venv/bin/python")
COREAI_PYTHON = named("COREAI_PYTHON", ".venv-coreai/bin/python")
BENCHMARK_PYTHON = str(ROOT / ".venv-benchmarks/bin/python")
SETUP_OPTIONS = {PYTHON: "--python", COREAI_PYTHON: "--coreai", BENCHMARK_PYTHON: "--benchmarks"}


def coremltools_python(version):
    """The Python that has this version of coremltools; `Scripts/check reading` makes it."""
    return ROOT / f".venv-coremltools{version}/bin/python"


def make_environment(folder, requirements):
    """Makes a virtual environment unless it exists; it takes other packages from .venv."""
    stamp = folder / "requirements.stamp"
    if stamp.exists() and filecmp.cmp(requirements, stamp, shallow=False):
        return
    print(f"installing {requirements.stem} into {folder.name}", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([PYTHON, "-m", "venv", folder], check=True)
    # Before pip runs, so that it skips what .venv has.
    [packages] = folder.glob("lib/python3*/site-packages")
    (packages / "base.pth").write_text(f"{site_packages(PYTHON)}\n{ROOT / 'Scripts/python'}\n")
    subprocess.run(
        [folder / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check",
         "--no-compile", "--no-warn-conflicts", "-r", requirements], check=True)
    shutil.copy(requirements, stamp)


def site_packages(python):
    """The folder of a Python's packages."""
    return subprocess.run(
        [python, "-c", 'import sysconfig; print(sysconfig.get_path("purelib"))'], check=True,
        capture_output=True, text=True).stdout.strip()


def toolchain():
    """The folder of the Swift toolchain that `swift` on PATH belongs to: usr, with bin and lib."""
    swift = shutil.which("swift")
    if swift is None:
        sys.exit("swift is not on PATH; run Scripts/setup")
    return pathlib.Path(swift).resolve().parents[1]


def run(*arguments, tool=RETINT, status=(0,)):
    """Runs retint and returns its standard output; exits if the status is an unexpected one."""
    command = [str(word) for word in (tool, *arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in status:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def report(*arguments, **options):
    """What a command reports with --json."""
    return json.loads(run(*arguments, "--json", **options))


def value(report, path):
    """The value at the end of a path of keys; None if the report has none."""
    for key in path:
        report = report.get(key) if report else None
    return report


# The instructions for which kernels of networks differ, fastest first.
INSTRUCTIONS = ("amx_tile", "avx512_fp16", "avx512_bf16", "avx512f", "avx2")


def cpu():
    """This machine's processor: its name, its model, and what it can do.

    Virtual machines often say little in the name.
    """
    facts = {}
    with open("/proc/cpuinfo", encoding="utf8") as file:
        for line in file:
            name, _, value = line.partition(":")
            facts.setdefault(name.strip(), value.strip())
    if "model name" not in facts:
        return "unknown CPU"
    flags = facts.get("flags", "").split()
    known = [flag for flag in INSTRUCTIONS if flag in flags]
    numbers = f"family {facts.get('cpu family', '?')} model {facts.get('model', '?')}"
    return f"{facts['model name']} ({', '.join([numbers, *known])})"
