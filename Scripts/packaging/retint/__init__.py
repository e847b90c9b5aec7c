"""retint retrains, converts, verifies and quantizes image colorizers.

This package holds the program, without a Python interface: run `retint` or `python -m retint`.
"""

import pathlib

__version__ = "@version@"

_FOLDER = pathlib.Path(__file__).resolve().parent

#: The path of the program.
executable = str(_FOLDER / "bin" / "retint")


def checkpoint_path(name):
    """The path of a shipped checkpoint, such as ``lite-class-unet``."""
    path = _FOLDER / "share" / "retint" / "checkpoints" / (name + ".h5")
    if not path.exists():
        names = sorted(other.stem for other in path.parent.glob("*.h5"))
        raise ValueError(f"no checkpoint is named {name!r}; there are {', '.join(names)}")
    return str(path)
