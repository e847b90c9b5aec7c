"""Where the wheel's files are."""

from __future__ import annotations

import os
import pathlib

_FOLDER = pathlib.Path(__file__).resolve().parent

#: The path of the program `retint`.
executable = str(_FOLDER / "bin" / "retint")


def checkpoint_path(name: str) -> str:
    """The path of a shipped checkpoint, such as ``lite-class-unet``."""
    own = _FOLDER / "share" / "retint" / "checkpoints"
    folder = pathlib.Path(os.environ.get("RETINT_CHECKPOINTS") or own)
    path = folder / f"{name}.h5"
    if not path.exists():
        names = sorted(other.stem for other in folder.glob("*.h5"))
        raise ValueError(f"no checkpoint is named {name!r}; there are {', '.join(names)}")
    return str(path)
