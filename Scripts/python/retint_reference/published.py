"""ECCV16 and SIGGRAPH17 as their authors published them (the PyPI package rz-colorization)."""

import importlib.machinery
import sys
import types

if "IPython" not in sys.modules:
    # The package imports its debugging prompt and never calls it.
    stub = types.ModuleType("IPython")
    stub.__spec__ = importlib.machinery.ModuleSpec("IPython", None)
    stub.embed = None
    sys.modules["IPython"] = stub

from colorizers.eccv16 import ECCVGenerator as ECCV16
from colorizers.siggraph17 import SIGGRAPHGenerator as SIGGRAPH17

__all__ = ["ECCV16", "SIGGRAPH17"]
