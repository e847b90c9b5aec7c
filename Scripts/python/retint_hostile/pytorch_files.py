"""Files of torch.save that call functions, claim sizes, hold themselves or share bytes."""

import io
import pickle
import struct
import zipfile

from .case import Case, REFUSED, TOLERATED, label, named_once
from .numbers import UINT64

INSPECT = ("inspect", "file.pth", "--json")
IMPORT = ("import", "file.pth", "--architecture", "pico-unet", "--width", "0.0625", "-o", "new.h5")
LOOSE = (*IMPORT, "--non-strict")
COMMANDS = [INSPECT, IMPORT, LOOSE]
NUMBERS = [*UINT64, -1, -(2**63), 2**64, 2**200]


def instructions(value):
    """The instructions that make a value, without those around them."""
    if isinstance(value, Raw):
        return value.bytes
    if isinstance(value, tuple):
        return b"(" + b"".join(map(instructions, value)) + b"t"
    if isinstance(value, dict):
        items = b"".join(instructions(key) + instructions(item) for key, item in value.items())
        return b"}(" + items + b"u"
    return pickle.dumps(value, 2)[2:-1]


class Raw:
    """Instructions as they are."""

    def __init__(self, content):
        self.bytes = content


def called(name, *arguments):
    return Raw(f"c{name}\n".encode() + instructions(arguments) + b"R")


def storage(count=16, key="0", kind="FloatStorage"):
    fields = ("storage", Raw(f"ctorch\n{kind}\n".encode()), key, "cpu", count)
    return Raw(instructions(fields) + b"Q")


def tensor(source=None, offset=0, shape=(4, 4), strides=(4, 1)):
    return called("torch._utils\n_rebuild_tensor_v2", source or storage(), offset, tuple(shape),
                  tuple(strides), False, called("collections\nOrderedDict"))


def whole(value):
    return b"\x80\x02" + instructions(value) + b"."


def archive(value, records=None, data=bytes(64)):
    """A zip file of a pickle and its storage."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        target.writestr("archive/data.pkl", value if isinstance(value, bytes) else whole(value))
        for name, content in (records or {"archive/data/0": data}).items():
            target.writestr(name, content)
    return file.getvalue()


def stream(value, count=16, data=bytes(64)):
    """The same in the format of PyTorch before 1.6."""
    head = [pickle.dumps(part, 2) for part in
            (0x1950a86a20f9469cfc6c, 1001, {"little_endian": True})]
    body = value if isinstance(value, bytes) else whole(value)
    return b"".join(head) + body + pickle.dumps(["0"], 2) + struct.pack("<Q", count) + data


def _numbers():
    for number in NUMBERS:
        values = {
            "offset": tensor(offset=number), "stride": tensor(strides=(number, 1)),
            "extent": tensor(shape=(number, 4)), "expanded": tensor(None, 0, (number,), (0,)),
            "count": tensor(storage(number)),
        }
        for name, value in values.items():
            yield f"{name}={label(number)}", archive({"a": value})
            yield f"stream-{name}={label(number)}", stream({"a": value})
    for count in UINT64:
        yield f"stream-size={count}", stream({"a": tensor()}, count)
    for text in (b"X", b"B", b"T", b"r", b"j"):
        for length in (0, 1, 2**31 - 1, 2**31, 2**32 - 1):
            yield f"length-{text.decode()}={length}", archive(
                b"\x80\x02" + text + struct.pack("<I", length))
    for opcode in (0x8d, 0x8e, 0x95, 0x96):
        for length in UINT64:
            yield f"length-{opcode}={length}", archive(
                b"\x80\x04" + bytes([opcode]) + struct.pack("<Q", length))


def _calls():
    for name in ("posix\nsystem", "builtins\neval", "builtins\nexec", "builtins\ngetattr",
                 "os\nsystem", "subprocess\nPopen", "torch\nload", "torch.hub\nload",
                 "torch.storage\n_load_from_bytes", "torch._utils\n_rebuild_wrapper_subclass",
                 "torch.nn.modules.conv\nConv2d", "__main__\nNet", "collections\ndefaultdict",
                 "x\x1b[31mred\nFORGED", "a" * 100_000 + "\nb"):
        value = called(name, "touch executed")
        yield f"calls={label(name)}", archive({"a": value})
        yield f"stream-calls={label(name)}", stream({"a": value})
    for opcode in range(256):
        yield f"opcode={opcode}", archive(b"\x80\x02" + bytes([opcode]) + bytes(16) + b".")


def _objects():
    values = {
        "itself": b"]q\0h\0a", "cycle": b"]q\0]q\1h\0ah\0h\1a", "deep": b"]" * 99_999,
        "deep-closed": b"]" * 99_999 + b"a" * 99_998, "tuples": b")" + b"\x85" * 1_000_000,
        "lists": b"(" + b"]" * 10_000_000, "marks": b"(" * 10_000_000,
        "memo": b"N" + b"".join(b"r" + struct.pack("<I", i * 977) for i in range(1_000_000)),
        "laughs": b"]q\0" + b"".join(
            b"](" + b"h%c" % i * 10 + b"eq%c" % (i + 1) for i in range(30)),
        "long-text": instructions("x" * 70_000_000),
    }
    for name, body in values.items():
        yield name, lambda body=body: archive(b"\x80\x02" + body + b".")
        yield f"stream-{name}", lambda body=body: stream(b"\x80\x02" + body + b".")
    for name in ("", "x\x1b[31mred", "x\nFORGED message", "a" * 1_000_000, "x\u202ey", "../x",
                 "x\u0000y", "x\x9by"):
        yield f"name={label(name)}", archive({name: tensor()})
        yield f"key={label(name)}", archive({"a": {name: tensor()}, "b": {"c": tensor()}})
        yield f"storage={label(name)}", archive({"a": tensor(storage(key=name))})
    yield "many-keys", archive({str(i): {"w": tensor()} for i in range(5_000)})
    yield "many-tensors", lambda: archive({str(i): tensor() for i in range(101_000)})


def _zip_fields():
    plain = archive({"a": tensor()})
    directory, end = plain.rindex(b"PK\1\2"), plain.rindex(b"PK\5\6")
    fields = [(directory + at, size) for at, size in
              ((8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4))]
    fields += [(end + at, size) for at, size in
               ((4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2))]
    for at, size in fields:
        for number in (0, 1, 8, 40, 2**(8 * size - 1), 2**(8 * size) - 1, 2**(8 * size) - 2):
            content = bytearray(plain)
            content[at:at + size] = number.to_bytes(size, "little")
            part = f"directory-{at - directory}" if at < end else f"end-{at - end}"
            yield f"{part}={number}", bytes(content)
    for name in ("archive/code/x.py", "archive/constants.pkl", "b/data.pkl", "archive/byteorder"):
        yield f"record={label(name)}", archive(
            {"a": tensor()}, {"archive/data/0": bytes(64), name: b"x"})
    yield "bytes=64", archive({"a": tensor()}, data=bytes(64))
    yield "bytes=63", archive({"a": tensor()}, data=bytes(63))
    yield "many-records", lambda: archive(
        {"a": tensor()}, {f"archive/data/{i}": b"" for i in range(101_000)})


def _bomb():
    """1 GiB of zeros, deflated to 1 MiB."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("archive/data.pkl", whole({"a": tensor(storage(2**28))}))
        with target.open("archive/data/0", "w") as record:
            for _ in range(2**10):
                record.write(bytes(2**20))
    return file.getvalue()


def cases(base):
    """All of these files, in turn with the commands that read them."""
    subjects = [*_numbers(), *_calls(), *_objects(), *_zip_fields(),
                ("deflated-bomb", _bomb)]
    made = []
    for index, (name, content) in enumerate(subjects):
        command = COMMANDS[index % 3]
        rule = REFUSED if command is IMPORT else TOLERATED

        def write(folder, content=content):
            # The large ones are made when they are needed.
            (folder / "file.pth").write_bytes(content() if callable(content) else content)

        made.append(Case(f"pytorch/{name}", rule, command, write))
    return named_once(made)
