"""Keyword arguments as a command's options."""

from __future__ import annotations

import numbers
import os
import typing

if typing.TYPE_CHECKING:
    import tempfile

#: A path of a file or folder.
Path = typing.Union[str, "os.PathLike[str]"]


#: What options of sizes take.
SIZES = 'a number or a text of width and height, such as 256 or "320x240"'


def path(value: object, what: str) -> str:
    """The text of a path.

    :param what: the argument's name, for errors.
    """
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if isinstance(text, str):
            # Otherwise it would be taken for an option.
            return f"./{text}" if text.startswith("-") else text
    way = "; export() writes a torch module" if hasattr(value, "named_modules") else ""
    raise TypeError(f"{what} must be a path, not {type(value).__name__}{way}")


def arguments(options: typing.Mapping[str, object]) -> list[str]:
    """`{"max_delta_e": 1, "photos": ["a", "b"], "layers": True}` as `--max-delta-e=1 …`.

    None and False leave an option out.
    """
    result = []
    for name, value in options.items():
        flag = "--" + name.strip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            result.append(flag)
        elif isinstance(value, (list, tuple)):
            result += [f"{flag}={_text(name, item)}" for item in value]
        else:
            result.append(f"{flag}={_text(name, value)}")
    return result


def _text(name: str, value: object) -> str:
    if isinstance(value, (str, os.PathLike)):
        return path(value, name) if isinstance(value, os.PathLike) else value
    if isinstance(value, numbers.Real):
        return str(value)
    known = f"; it takes {SIZES}" if name.endswith(("size", "sizes")) else ""
    raise TypeError(f"{name} cannot be {type(value).__name__}{known}")


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder for files that a call reads."""
    import tempfile

    return tempfile.TemporaryDirectory(prefix="retint-")
