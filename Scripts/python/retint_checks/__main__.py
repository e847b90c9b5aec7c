"""Runs a check by its name: Scripts/check calls it."""

import sys

import retint_checks
import retint_runner

sys.exit(retint_runner.run(retint_checks, "Scripts/check", retint_checks.INTERPRETERS))
