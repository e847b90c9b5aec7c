"""Where the wheel's files are."""

from __future__ import annotations

import importlib.util
import os
import pathlib

from retint import _options

_FOLDER = pathlib.Path(__file__).resolve().parent

#: The path of the program `retint`.
executable = str(_FOLDER / "bin" / "retint")


def checkpoint_path(name: str) -> str:
    """The path of a trained colorizer, such as ``lite-class-unet``.

    They are in a wheel of their own: ``pip install retint-checkpoints``.
    """
    folders = [folder for folder in _folders() if folder.is_dir()]
    if not folders:
        raise ModuleNotFoundError(
            "the trained colorizers are not installed; run pip install retint-checkpoints",
            name="retint_checkpoints")
    for folder in folders:
        path = folder / f"{name}.h5"
        if path.exists():
            return str(path)
    names = sorted({path.stem for folder in folders for path in folder.glob("*.h5")})
    raise ValueError(f"no checkpoint is named {name!r}; there are {', '.join(names)}")


def model(value: object, what: str) -> str:
    """The path of a model: of the trained colorizer of this name if nothing is at the path."""
    path = _options.path(value, what)
    if "/" in path or os.path.lexists(path):
        return path
    found = [folder / f"{path}.h5" for folder in _folders()]
    return next((str(file) for file in found if file.exists()), path)


def _folders() -> list[pathlib.Path]:
    """Where checkpoints may be."""
    own = os.environ.get("RETINT_CHECKPOINTS")
    if own:
        return [pathlib.Path(own)]
    found = importlib.util.find_spec("retint_checkpoints")
    return [pathlib.Path(place) for place in (found.submodule_search_locations or [])] if found \
        else []
