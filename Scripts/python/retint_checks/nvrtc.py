"""Has NVIDIA's compiler compile the kernels that retint writes for GPUs, without a GPU.

    Scripts/check nvrtc [--sample N] [--seed S]

Needs Scripts/setup --cuda, and the tests of the release build. Every case of the table of
operations, with its gradients, is compiled for the GPUs of the compute capabilities 8.0, 9.0 and
10.0. What the same sources compute is tested by Scripts/test, compiled for this machine.
"""

import glob
import os
import subprocess
import sys

import retint_build
import retint_options
from retint_tool import ROOT

LIBRARIES = ".venv-cuda/lib/python3*/site-packages/nvidia/*/lib"
# The test that does the work: where there is no compiler, it is skipped.
NAME = "everySourceIsCompiled"


def main():
    parser = retint_options.parser(__doc__)
    retint_options.add_sample(parser)
    sample = retint_options.Sample(parser.parse_args(), "nvrtc")
    folders = glob.glob(str(ROOT / LIBRARIES))
    if not folders:
        sys.exit(f"nvrtc: there is no {LIBRARIES}; run Scripts/setup --cuda")
    environment = os.environ | {
        "RETINT_CUDA_LIBRARIES": ":".join(folders), "RETINT_TESTS_SAMPLE": str(sample.every),
        "RETINT_TESTS_SEED": str(sample.seed)}
    done = subprocess.run(
        ["swift", "test", *retint_build.FLAGS, "--skip-build", "--filter", "NVRTCTests"], cwd=ROOT,
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, end="")
    if done.returncode == 0 and f"{NAME}(_:) with 3 test cases passed" not in done.stdout:
        sys.exit(f"nvrtc: {NAME} was not run; is {folders} complete?")
    return done.returncode
