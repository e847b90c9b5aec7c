"""The shared library and its calls: retint.h says what its functions do."""

from __future__ import annotations

import atexit
import ctypes
import functools
import json
import os
import pathlib
import typing
import warnings
import weakref

from retint import _errors

# Ctrl-C ends a call within this time.
_WAIT_MILLISECONDS = 50
# The process waits so long for each call at its end.
_EXIT_MILLISECONDS = 10_000

Messages = typing.Callable[[str], object]


class Tensor(ctypes.Structure):
    """A `retint_tensor`."""

    _fields_ = [
        ("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("type", ctypes.c_int32),
        ("rank", ctypes.c_int32), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]


def _path() -> str:
    """The library of the wheel, or another one that the environment names."""
    own = pathlib.Path(__file__).resolve().parent / "lib" / "retint" / "libretint.so"
    return os.environ.get("RETINT_LIBRARY") or str(own)


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library, which is loaded by the first call: importing must be fast."""
    path = _path()
    try:
        # Its symbols meet those of no other library.
        loaded = ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)
    except OSError as error:
        raise _errors.FailureError(f"{path}: cannot be loaded: {error}", file=path) from error
    text = ctypes.c_char_p
    tensors = ctypes.POINTER(Tensor)
    owned = ctypes.c_void_p
    for name, result, arguments in [
        ("version", text, []), ("command", ctypes.c_int64, [text]),
        ("model_open", ctypes.c_int64, [text]),
        ("model_layers", ctypes.c_int64, [ctypes.c_int64]),
        ("model_run", ctypes.c_int64, [ctypes.c_int64, tensors, ctypes.c_int32]),
        ("write", ctypes.c_int64, [text, tensors, ctypes.c_int32]),
        ("wait", ctypes.c_int32, [ctypes.c_int64, ctypes.c_int32]),
        ("cancel", None, [ctypes.c_int64]), ("messages", owned, [ctypes.c_int64]),
        ("result", owned, [ctypes.c_int64]),
        ("output", ctypes.c_int32, [ctypes.c_int64, ctypes.c_int32, tensors]),
        ("release", None, [ctypes.c_int64]), ("free", None, [owned]),
    ]:
        function = getattr(loaded, f"retint_{name}")
        function.restype, function.argtypes = result, arguments
    return loaded


def _text(pointer: int | None) -> str | None:
    """A text of the library, which is freed."""
    if not pointer:
        return None
    try:
        return ctypes.string_at(pointer).decode()
    finally:
        library().retint_free(pointer)


class Call:
    """Work that the library does on threads of its own. It is cancelled when this is collected."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._messages: list[str] = []
        _running.add(self)

    def __del__(self) -> None:
        # At the interpreter's end, modules may be gone.
        if library is not None:
            library().retint_release(self.number)

    def wait(self, messages: Messages | None = None) -> bool:
        """Waits a moment, without the GIL, and passes messages on; returns whether it has ended."""
        has_ended: bool = library().retint_wait(self.number, _WAIT_MILLISECONDS) != 0
        for message in json.loads(_text(library().retint_messages(self.number)) or "[]"):
            self._messages.append(message)
            if messages is not None:
                messages(message)
        return has_ended

    def cancel(self) -> None:
        """Asks the work to end early."""
        library().retint_cancel(self.number)

    def stop(self) -> None:
        """Cancels the work, and waits until it has ended: until then, it may write files."""
        self.cancel()
        while library().retint_wait(self.number, 1000) == 0:
            pass

    def end(self, messages: Messages | None = None) -> dict[str, typing.Any]:
        """Waits for the end; Ctrl-C ends the work early.

        :param messages: is called with each message and line of progress.
        """
        try:
            while not self.wait(messages):
                pass
        except BaseException:
            self.stop()
            raise
        result: dict[str, typing.Any] = json.loads(
            _text(library().retint_result(self.number)) or '{"status": 1}')
        return result

    def values(self, messages: Messages | None = None,
               allowed: tuple[int, ...] = (0,)) -> dict[str, typing.Any]:
        """Waits for the end, and returns the result.

        :param allowed: the exit codes that are not errors.
        """
        ending = self.end(messages)
        if ending["status"] in allowed:
            return ending
        if not ending.get("error"):
            # Some commands print their errors.
            mark = "error: "
            ending["error"] = "; ".join(
                message[len(mark):] for message in self._messages if message.startswith(mark))
        raise _errors.error(ending)

    def output(self, messages: Messages | None = None, allowed: tuple[int, ...] = (0,)) -> str:
        """Waits for the end of a command, and returns what it prints."""
        text: str = self.values(messages, allowed).get("output", "")
        return text


# Those that exist, to be ended before the process is.
_running: weakref.WeakSet[Call] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """Threads must have stopped when the process ends: a training saves its state first."""
    if library.cache_info().currsize == 0:
        return
    for call in list(_running):
        call.cancel()
    for call in list(_running):
        library().retint_wait(call.number, _EXIT_MILLISECONDS)


def start(*arguments: str) -> Call:
    """Starts a command in this process."""
    return Call(library().retint_command(json.dumps(arguments).encode()))


def written(*arguments: str, messages: Messages | None = None) -> str:
    """Runs a command that writes a model; without a function for messages, they are warnings."""
    found: list[str] = []
    result = command(*arguments, messages=messages or found.append)
    for message in found:
        warnings.warn(message.removeprefix("warning: "), stacklevel=3)
    return result


def command(*arguments: str, messages: Messages | None = None,
            allowed: tuple[int, ...] = (0,)) -> str:
    """Runs a command in this process and returns what it prints."""
    return start(*arguments).output(messages, allowed)
