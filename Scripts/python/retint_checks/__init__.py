"""Checks of retint, most of which continuous integration runs (.ci/run)."""

import sys

import retint_tool

# Those that need no more than Python's own library.
PLAIN = ("all", "concepts", "docs", "example", "face", "fuzz", "imports", "library", "nvrtc",
         "sanitizers", "tests", "unused", "version")
INTERPRETERS = dict.fromkeys(PLAIN, sys.executable) | {"judge": retint_tool.COREAI_PYTHON}
