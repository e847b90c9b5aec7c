"""Has NVIDIA's compiler compile the kernels that retint writes for GPUs, without a GPU.

    Scripts/check nvrtc [--sample N] [--seed S]

Needs Scripts/setup --cuda, and the tests of the release build. Every case of the table of
operations, with its gradients and in each format of memory, and what a training step computes of
pixels, is compiled for the GPUs of the compute capabilities 8.0, 9.0 and 10.0. What the same
sources compute is tested by Scripts/test, compiled for this machine.
"""

import retint_options

from . import _cuda


def main():
    parser = retint_options.parser(__doc__)
    retint_options.add_sample(parser)
    sample = retint_options.Sample(parser.parse_args(), "nvrtc")
    results = [f"{test}(_:) with 3 test cases passed"
               for test in ("everySourceIsCompiled", "groupedUpdatesAreCompiled",
                            "everyKernelIsCompiled")]
    return _cuda.run_tests("NVRTCTests|everyKernelIsCompiled", results, {
        "RETINT_CUDA_LIBRARIES": _cuda.libraries(".venv-cuda", "--cuda"),
        "RETINT_TESTS_SAMPLE": str(sample.every), "RETINT_TESTS_SEED": str(sample.seed)})
