"""Runs a comparison by its name: Scripts/compare calls it."""

import os
import sys

import retint_comparisons
import retint_runner

# An OpenBLAS core set in the environment would slow down only retint.
os.environ.pop("OPENBLAS_CORETYPE", None)
sys.exit(retint_runner.run(retint_comparisons, "Scripts/compare", {}))
