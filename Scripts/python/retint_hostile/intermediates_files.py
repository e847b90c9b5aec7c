"""Folders of Apple's debugger (.aimodelintermediates) with absurd descriptions and NumPy files."""

import json
import struct

import numpy

from .base_files import SIDE
from .case import Case, TOLERATED, label, named_once
from .numbers import INT64_MAX, UINT64

FOLDER = "x.aimodelintermediates"
COMMAND = ("verify", "base/model.h5", "--reference", FOLDER, "--json")
SHAPE = (1, 1, SIDE, SIDE)


def _tuple(shape):
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def file(shape=SHAPE, kind="<f4", order="False", data=None, text=None, length=None, version=1):
    """The bytes of a NumPy file."""
    if text is None:
        text = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {_tuple(shape)}, }}\n"
    content = text.encode("utf8", "surrogatepass")
    form = "<H" if version == 1 else "<I"
    limit = 0xFFFF if version == 1 else 0xFFFFFFFF
    size = struct.pack(form, min(len(content) if length is None else length, limit))
    data = bytes(4 * SIDE * SIDE) if data is None else data
    return b"\x93NUMPY" + bytes([version, 0]) + size + content + data


def node(name, shape=SHAPE, path=None, target="aten.relu.default"):
    return {
        "node_name": name, "node_op": "call_function", "node_target": target,
        "data_file": path or f"data/{name}.npy", "shape": list(shape),
        "torch_dtype": "torch.float32", "numel": 1}


def metadata(**groups):
    healthy = {"inputs": {"x": node("x")}, "outputs": {"y": node("y", (1, 2, SIDE, SIDE))},
               "intermediates": {"relu": node("relu")}}
    return json.dumps(healthy | groups)


def headers():
    """Names and contents of files with absurd headers."""
    for number in UINT64:
        yield f"length={number}", file(length=number)
        yield f"length={number}-version-2", file(length=number, version=2)
    for shape in ((0,), (2**62, 0), (2**32, 2**32), (2**63, 2), (1,) * 9, (1,) * 10_000,
                  (INT64_MAX,), (-1, -16), (2**64,), (10**400,)):
        yield f"shape={label(str(shape))}", file(shape)
        yield f"shape={label(str(shape))}-fortran", file(shape, order="True")
    for kind in ("", "f4", "<f3", "|f4", "<O", "|O", "<U9223372036854775807", "<c8", "|b1",
                 "<M8[s]", "<f4\x1b[31m", "<" * 60_000, "<f8", "<i8", ">f4"):
        yield f"type={label(kind)}", file(kind=kind)
    for text in ("", "{", "{}", "{}}", "[" * 60_000, "{'descr': " * 5_000, "{'descr': '<f4'}",
                 "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                 "{'shape': (" + "1, " * 20_000 + ")}", "__import__('os').system('touch x')",
                 "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", " " * 65_000):
        yield f"header={label(text)}", file(text=text)
    yield "version-4", file(version=4)
    yield "no-elements", file(data=b"")
    yield "one-byte-more", file(data=bytes(4 * SIDE * SIDE + 1))
    yield "not-finite", file(data=numpy.full(SHAPE, numpy.nan, "<f4").tobytes())


def _descriptions():
    for number in (*UINT64, -1, 2**64, 1.5, 1e400, None, "0", True):
        yield f"shape={label(number)}", metadata(inputs={"x": node("x", (number, 1, 1, 1))})
        yield f"rank={label(number)}", metadata(intermediates={"relu": node("relu", [number] * 9)})
    for path in ("", "/etc/passwd", "../base/model.h5", "data/../../base/model.h5", "data", "data/",
                 "data/x.npy\0", "data/\x1b[31m", "data/" + "a" * 5000, "data/none.npy",
                 "/dev/zero"):
        yield f"file={label(path)}", metadata(
            inputs={"x": node("x") | {"data_file": path}})
    for name in ("", "x\x1b[31mred", "x\nFORGED message", "a" * 100_000, "x\u202ey", "../x"):
        yield f"name={label(name)}", metadata(intermediates={name: node(name, path="data/x.npy")})
    for text in ("", "null", "[]", "{}", "{", "[" * 100_000, '{"a":' * 10_000, "NaN"):
        yield f"json={label(text)}", text
    many = {f"n{i}": node(f"n{i}", path="data/x.npy") for i in range(20_000)}
    yield "many", metadata(intermediates=many)


def cases(base):
    """Healthy but for one file of the folder."""
    subjects = [(f"npy/{name}", metadata(), content) for name, content in headers()]
    subjects += [(f"metadata/{name}", text, file()) for name, text in _descriptions()]
    made = []
    for name, text, content in subjects:
        def write(folder, text=text, content=content):
            data = folder / FOLDER / "data"
            data.mkdir(parents=True)
            (folder / FOLDER / "metadata.json").write_text(text)
            (data / "x.npy").write_bytes(content)
            (data / "relu.npy").write_bytes(file())
            numpy.save(data / "y.npy", numpy.zeros((1, 2, SIDE, SIDE), "<f4"))

        made.append(Case(f"intermediates/{name}", TOLERATED, COMMAND, write))
    return named_once(made)
