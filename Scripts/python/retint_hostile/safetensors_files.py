"""safetensors files whose headers state absurd offsets, shapes and types."""

import json
import struct

from .case import Case, REFUSED, TOLERATED, label, named_once
from .numbers import INT64_MAX, UINT64

INSPECT = ("inspect", "file.safetensors", "--json")
IMPORT = ("import", "file.safetensors", "--architecture", "pico-unet", "--width", "0.0625",
          "-o", "new.h5")
LOOSE = (*IMPORT, "--non-strict")
COMMANDS = [INSPECT, IMPORT, LOOSE]


def file(header, data=bytes(64), length=None):
    """The bytes of a file; the header is a dictionary or text."""
    text = header if isinstance(header, bytes) else (
        header if isinstance(header, str) else json.dumps(header)).encode("utf8", "surrogatepass")
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(shape=(4, 4), offsets=(0, 64), kind="F32"):
    return {"dtype": kind, "shape": list(shape), "data_offsets": list(offsets)}


def _offsets():
    numbers = [*UINT64, -1, -(2**63), 2**64, 2**200, 1.5, 1e400, None, "0", [], True]
    for number in numbers:
        yield f"begin={label(number)}", file({"a": tensor(offsets=(number, 64))})
        yield f"end={label(number)}", file({"a": tensor(offsets=(0, number))})
        yield f"both={label(number)}", file({"a": tensor(offsets=(number, number))})
        yield f"size={label(number)}", file({"a": tensor(shape=(number, 4))})
    yield "overlap", file({"a": tensor(), "b": tensor()})
    yield "overlap-by-half", file({"a": tensor(), "b": tensor((4, 2), (32, 64))})
    yield "gap", file({"a": tensor((2,), (0, 8)), "b": tensor((2,), (56, 64))})
    yield "reversed", file({"a": tensor(offsets=(64, 0))})
    yield "no-offsets", file({"a": {"dtype": "F32", "shape": []}})
    yield "one-offset", file({"a": tensor(offsets=(0,))})
    yield "hundred-offsets", file({"a": tensor(offsets=range(100))})


def _shapes():
    for shape in ((0,), (0, 2**62), (2**62, 0), (2**32, 2**32), (2**63, 2), (1,) * 9, (1,
        ) * 100_000,
                  (2**62, 2**62, 2**62), (INT64_MAX,), (-1, -16), (2**64 - 1,)):
        for kind in ("F32", "F4", "I64", "BOOL"):
            yield f"shape={label(str(shape))}-{kind}", file({"a": tensor(shape, (0, 0), kind)},
                                                            b"")
            if kind == "F32":
                yield f"shape={label(str(shape))}", file({"a": tensor(shape)})
    for kind in ("", "F31", "f32", "F8_E4M3", "F8_E5M2", "F6_E2M3", "C64", "U64", "BF16", 1, None,
                 "F32\x1b[31m\nFORGED", "x" * 1_000_000, []):
        yield f"type={label(kind)}", file({"a": tensor(kind=kind)})


def _names():
    for name in ("", "x\x1b[31mred", "x\nFORGED message", "a" * 1_000_000, "x\u202ey", "\ud800",
                 "__metadata__", "../x", "x\u0000y", "x\x9by"):
        yield f"name={label(name)}", file({name: tensor()})
    for value in (1, None, [], "x", {"a": 1}, {"a": {}}, {"a\nFORGED": "\x1b[31m"},
                  {"a": "b" * 1_000_000}, {str(i): "" for i in range(100_000)}):
        yield f"metadata={label(str(value))}", file({"__metadata__": value, "a": tensor()})


def _headers():
    pair = json.dumps(tensor())
    texts = [
        "", " ", "null", "[]", "1", '"x"', "{", "{}", "{}}", '{"a"', '{"a":}', "{a:1}",
        "[" * 100_000,
        '{"a":' * 100_000, '{"a":' + "[" * 1_000_000, "{" + f'"a":{pair},"a":{pair}' + "}",
        "{" + ",".join(f'"a{i}":{pair}' for i in range(50_000)) + "}",
        "{" + ",".join(f'"a{i}":{json.dumps(tensor((0,), (0, 0)))}' for i in range(200_000)) + "}",
        '{"a":{"dtype":"F32","dtype":"F64","shape":[16],"data_offsets":[0,64]}}',
        '{"a":{"dtype":"F32","shape":[1e1,1.6],"data_offsets":[0,64]}}',
        '{"a":{"dtype":"F32","shape":[016],"data_offsets":[0,64]}}',
        '{"a":{"dtype":"F32","shape":[+16],"data_offsets":[0,64]}}',
        '{"a":{"dtype":"F32","shape":[16],"data_offsets":[-0,64]}}',
        '{"a":{"dtype":"F32","shape":[16],"data_offsets":[0,64],"x":' + "[" * 50_000 + "]" * 50_000
        + "}}",
        '{"\\ud800":' + pair + "}", '{"\\u0000":' + pair + "}", '{"\\x":' + pair + "}",
        '{"a":' + pair + ',}', "\ufeff{}", "NaN", '{"a":' + pair + "}" + " " * 1_000_000,
        '{"a":' + "9" * 1_000_000 + "}",
    ]
    for text in texts:
        yield f"header={label(text)}", file(text)
    for content in (b"\xff\xfe", b"\x00" * 100, b'{"\xff":1}', b'{"\x1b[31m":1}'):
        yield f"bytes={label(repr(content))}", file(content)
    for length in UINT64:
        yield f"length={length}", file({"a": tensor()}, length=length)


def _metadata_only():
    yield "no-tensors", file({}, b"")
    yield "trailing", file({"a": tensor()}, bytes(65))
    yield "short", file({"a": tensor()}, bytes(63))


def cases(base):
    """All of these files, in turn with the commands that read them."""
    subjects = [*_offsets(), *_shapes(), *_names(), *_headers(), *_metadata_only()]
    made = []
    for index, (name, content) in enumerate(subjects):
        command = COMMANDS[index % 3]
        rule = REFUSED if command is IMPORT else TOLERATED

        def write(folder, content=content):
            (folder / "file.safetensors").write_bytes(content)

        made.append(Case(f"safetensors/{name}", rule, command, write))
    return named_once(made)
