"""Tests that need NVIDIA's libraries from a virtual environment, and no GPU."""

import glob
import os
import subprocess
import sys

import retint_build
from retint_tool import ROOT


def libraries(environment, option):
    """The folders of libraries in a virtual environment that Scripts/setup OPTION makes."""
    pattern = f"{environment}/lib/python3*/site-packages/nvidia/*/lib"
    folders = sorted(glob.glob(str(ROOT / pattern)))
    if not folders:
        sys.exit(f"there is no {pattern}; run Scripts/setup {option}")
    return ":".join(folders)


def run_tests(suite, results, variables):
    """Runs a suite; returns the exit status, which is 1 if one of the results is not printed.

    Where there is no library, tests are skipped instead of failing.
    """
    done = subprocess.run(
        ["swift", "test", *retint_build.FLAGS, "--skip-build", "--filter", suite], cwd=ROOT,
        env=os.environ | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, end="")
    missing = [result for result in results if result not in done.stdout]
    if done.returncode == 0 and missing:
        sys.exit(f"{suite}: not found in what the tests printed: {', '.join(missing)}")
    return done.returncode
