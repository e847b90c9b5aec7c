"""retint retrains, converts, verifies and quantizes image colorizers.

>>> import retint
>>> model = retint.load("lite-class-unet")
>>> report = retint.verify("net.mlpackage", module, inputs=x)       # doctest: +SKIP
>>> report.raise_if_failed()                                        # doctest: +SKIP

Each function does what the command of its name does, in this process; options of the command are
keyword arguments, with underscores. The command itself is `retint` or `python -m retint`.
"""

from retint._arrays import Array
from retint._commands import (
    Trainer, benchmark, calibrate, colorize, compare, dataset, diff, evaluate, export,
    find_precision, import_weights, inspect, models, quantize, reduce, replay, report, search,
    train)
from retint._errors import (
    FailureError, InputError, RetintError, UsageError, VerificationFailed)
from retint._files import checkpoint_path, executable
from retint._models import Model, load
from retint._reports import Report
from retint._verification import verify

__version__ = "@version@"

__all__ = [
    "Array", "FailureError", "InputError", "Model", "Report", "RetintError", "Trainer",
    "UsageError", "VerificationFailed", "benchmark", "calibrate", "checkpoint_path", "colorize",
    "compare", "dataset", "diff", "evaluate", "executable", "export", "find_precision",
    "import_weights", "inspect", "load", "models", "quantize", "reduce", "replay", "report",
    "search", "train", "verify",
]
