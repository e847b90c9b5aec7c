"""Has the real cuDNN plan convolutions for an H200 that is not there.

    Scripts/check cudnn

Needs Scripts/setup --cudnn, which loads 1 GB, and the tests of the release build. Every convolution
of training the largest architectures, and every case of the table of operations, must have a plan
in float32 and bfloat16 that is deterministic and, in float32, rounds no operand. The tests print
the plans.
"""

import subprocess
import tempfile

import retint_options
from retint_tool import ROOT

from . import _cuda


def main():
    retint_options.parser(__doc__).parse_args()
    folders = _cuda.libraries(".venv-cudnn", "--cudnn")
    with tempfile.TemporaryDirectory(prefix="retint-driver-") as driver:
        subprocess.run([ROOT / "Tests/CUDAMock/build", "--planning", driver], check=True)
        return _cuda.run_tests(
            "ConvolutionPlanTests",
            ["everyConvolutionHasAPlan(_:_:) with 10 test cases passed",
             "everyCaseHasAPlan(_:_:) with"],
            {"RETINT_PLAN_LIBRARIES": folders, "LD_LIBRARY_PATH": f"{driver}:{folders}"})
