"""Runs a benchmark by its name: Scripts/benchmark calls it."""

import os
import sys

import retint_benchmarks
import retint_runner
import retint_tool

# An OpenBLAS core set in the environment would slow down only retint.
os.environ.pop("OPENBLAS_CORETYPE", None)
peers = retint_tool.BENCHMARK_PYTHON
sys.exit(retint_runner.run(
    retint_benchmarks, "Scripts/benchmark", {"frameworks": peers, "networks": peers}))
