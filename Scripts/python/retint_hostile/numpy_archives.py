"""Archives of NumPy (.npz) with absurd entries, as inputs of a verification."""

import io
import zipfile

import numpy

from . import intermediates_files
from .case import Case, TOLERATED, named_once

COMMAND = ("verify", "base/model.h5", "--against", "base/model.h5", "--inputs", "file.npz")
# The shape of the model's only input.
SHAPE = intermediates_files.SHAPE


def archive(*entries, method=zipfile.ZIP_STORED):
    """The bytes of a zip file with these names and contents."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in entries:
            file.writestr(name, content)
    return buffer.getvalue()


def _archives():
    healthy = intermediates_files.file(SHAPE)
    for name, content in intermediates_files.headers():
        yield f"array/{name}", archive(("x.npy", content))
    yield "empty", archive()
    yield "no-arrays", archive(("a.txt", b"text"), ("data.pkl", b"\x80\x02N."))
    yield "other-name", archive(("other.npy", healthy), ("x.txt", b""))
    yield "two", archive(("x.npy", healthy), ("y.npy", healthy))
    yield "no-name", archive((".npy", healthy))
    yield "escape", archive(("x\x1b[31m\nFORGED.npy", healthy), ("y.npy", healthy))
    yield "outside", archive(("../../x.npy", healthy))
    yield "long-name", archive(("a" * 60_000 + ".npy", healthy))
    yield "many", archive(*((f"{i}.npy", b"") for i in range(60_000)))
    yield "deflated", archive(("x.npy", healthy), method=zipfile.ZIP_DEFLATED)
    bomb = intermediates_files.file((1 << 24,), data=bytes(1 << 26))
    yield "bomb", archive(("x.npy", bomb), method=zipfile.ZIP_DEFLATED)
    whole = archive(("x.npy", healthy), ("y.npy", healthy))
    for size in (1, 29, 40, len(whole) - 1, len(whole) - 22, len(whole) // 2):
        yield f"cut={size}", whole[:size]
    start = whole.rindex(b"PK\x01\x02")
    for place in (10, 16, 20, 24, 28, 42):
        for value in (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f"):
            yield (f"directory-{place}={value.hex()}",
                   whole[:start + place] + value + whole[start + place + 4:])
    twice = archive(("x.npy", healthy), ("y.npy", numpy.zeros(SHAPE, "<f4").tobytes()))
    yield "twice", twice.replace(b"y.npy", b"x.npy")


def cases(base):
    """Each archive is the file of all inputs."""
    return named_once([
        Case(f"npz/{name}", TOLERATED, COMMAND,
             lambda folder, content=content: (folder / "file.npz").write_bytes(content))
        for name, content in _archives()])
