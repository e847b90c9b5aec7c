"""What retint's functions raise."""

from __future__ import annotations

import contextlib
import typing


class RetintError(Exception):
    """An error of retint; the message names the file, the place, the rule and the way out.

    ``file`` and ``place`` say where it is, and ``remedy`` what can be done; each is empty if there
    is none. ``status`` is the exit code that the command would have, and ``output`` what it printed
    before it failed, such as the results for the other photos.
    """

    def __init__(self, message: str, *, status: int = 1, file: str = "", place: str = "",
                 remedy: str = "", output: str = "") -> None:
        super().__init__(message)
        self.status, self.file, self.place, self.remedy = status, file, place, remedy
        self.output = output


class UsageError(RetintError, ValueError):
    """An argument cannot be used, or does not fit the others."""


class InputError(RetintError):
    """A file, a model or a photo cannot be used."""


class FailureError(RetintError, RuntimeError):
    """Neither the caller nor a file is at fault: the system, a device or a computation failed."""


class VerificationFailed(RetintError, AssertionError):
    """A model is outside the tolerance; ``report`` has the figures."""

    def __init__(self, message: str, report: typing.Any) -> None:
        super().__init__(message, status=2)
        self.report = report

    def __reduce__(self) -> tuple[typing.Any, ...]:
        return type(self), (str(self), self.report)


@contextlib.contextmanager
def naming(path: str, name: str) -> typing.Iterator[None]:
    """Errors on a file that a call has written itself name what the caller knows instead."""
    try:
        yield
    except RetintError as error:
        if path not in str(error):
            raise
        raise type(error)(
            str(error).replace(path, name), status=error.status,
            file=error.file.replace(path, name), place=error.place.replace(path, name),
            remedy=error.remedy.replace(path, name), output=error.output) from None


_KINDS: dict[int, type[RetintError]] = {64: UsageError, 65: InputError}


def error(ending: dict[str, typing.Any]) -> BaseException:
    """The exception for a call that has failed."""
    status = ending["status"]
    if status == 130:
        return KeyboardInterrupt()
    return _KINDS.get(status, FailureError)(
        ending.get("error") or "the command failed; see its messages", status=status,
        file=ending.get("file", ""), place=ending.get("place", ""),
        remedy=ending.get("remedy", ""), output=ending.get("output", ""))
