"""HDF5 files with absurd dataspaces, types, filters, links and attributes.

A file takes one of four parts: a checkpoint, a state dict, a packed dataset, or a reference.
"""

import os
import shutil

import h5py
import numpy

from .case import Case, REFUSED, TOLERATED, label, named_once

STATE = ("import", "file.h5", "--architecture", "pico-unet", "--width", "0.0625", "-o", "new.h5")
LOOSE = (*STATE, "--non-strict")
CHECKPOINT = ("inspect", "file.h5", "--json")
EXPORT = ("export", "file.h5", "-o", "new.mlpackage", "--size", "32")
COLORIZE = ("colorize", "file.h5", "base/photo.png", "-o", "out")
AVERAGE = ("average", "file.h5", "base/model.h5", "-o", "new.h5")
PACK = ("dataset", "inspect", "file.h5", "--json")
REPACK = ("dataset", "pack", "file.h5", "-o", "new.h5")
EVALUATE = ("evaluate", "base/model.h5", "--data", "file.h5", "--size", "32", "--json")
REFERENCE = ("verify", "base/iOS15.mlpackage", "--reference", "file.h5", "--json")
# A dataset of each part, and the commands that read it.
PARTS = {
    "state.h5": ("stem.0.weight", [STATE, LOOSE, CHECKPOINT]),
    "model.h5": ("stem.0.weight", [EXPORT, CHECKPOINT, COLORIZE, AVERAGE]),
    "pack.h5": ("photos/photo0.png", [PACK, REPACK, EVALUATE]),
    "reference.h5": ("inputs/input", [REFERENCE]),
}


def _changed(base, part, change):
    """Writes one of the healthy files with a change to it; the change gets the open file."""
    def write(folder):
        shutil.copy(base / part, folder / "file.h5")
        os.chmod(folder / "file.h5", 0o644)
        with h5py.File(folder / "file.h5", "r+") as file:
            change(file)

    return write


def _replace(name, make):
    def change(file):
        del file[name]
        make(file, name)

    return change


def _unstored(shape, **options):
    """A dataset of a shape without storage."""
    space = h5py.h5s.create_simple(tuple(shape), options.pop("limits", None))
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if chunks := options.get("chunks"):
        properties.set_chunk(tuple(chunks))
    else:
        properties.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)
    for filter_name in options.get("filters", ()):
        if filter_name == "gzip":
            properties.set_deflate(9)
        elif filter_name == "shuffle":
            properties.set_shuffle()
        elif filter_name == "checksum":
            properties.set_fletcher32()
        else:
            properties.set_filter(filter_name, h5py.h5z.FLAG_OPTIONAL, (1, 2, 3))
    kind = options.get("kind", h5py.h5t.IEEE_F32LE)

    def make(file, name):
        create = h5py.h5p.create(h5py.h5p.LINK_CREATE)
        create.set_create_intermediate_group(True)
        h5py.h5d.create(file.id, name.encode(), kind, space, properties, create)

    return make


def _spaces():
    """Dataspaces: most have no storage, so that the file stays small."""
    shapes = [(0,), (2**31,), (2**40,), (2**60,), (2**61 - 1,), (2**32, 2**28), (2**40, 0),
              (0, 2**62), (1,) * 9, (1,) * 32, (2**31, 1, 1, 1), (16, 1, 3, 2**40), (2**20, 2**11)]
    for shape in shapes:
        yield f"space={label(str(shape))}", _unstored(shape)
    for chunks in ((1,), (2**20,), (2**31,), (2**32 - 1,)):
        yield f"chunks={chunks[0]}", _unstored((2**40,), chunks=chunks, limits=(2**60,))
        yield f"chunks-gzip={chunks[0]}", _unstored(
            (2**33,), chunks=chunks, filters=("gzip", "shuffle"))
    for one in (2, 4, 5, 32000, 32004, 32015, 40000, 65535):
        yield f"filter={one}", _unstored((16, 1, 3, 3), chunks=(16, 1, 3, 3), filters=(one,))
    yield "filters-32", _unstored((16, 1, 3, 3), chunks=(16, 1, 3, 3), filters=("shuffle",) * 32)
    yield "checksum", _unstored((2**30,), chunks=(2**20,), filters=("checksum",))


def _stored():
    """Datasets with elements that are not plain numbers, or too many of them."""
    def data(content, **options):
        return lambda file, name: file.create_dataset(name, data=content, **options)

    def empty(file, name):
        file.create_dataset(name, data=h5py.Empty("f4"))

    def reference(file, name):
        file.create_dataset(name, data=file.ref, dtype=h5py.ref_dtype)

    def lengths(file, name):
        kind = h5py.vlen_dtype(numpy.float32)
        dataset = file.create_dataset(name, (16,), dtype=kind)
        dataset[0] = numpy.zeros(1000, "f4")

    def bomb(file, name):
        file.create_dataset(
            name, (2**29,), "f4", chunks=(2**24,), compression="gzip", compression_opts=9)
        for start in range(0, 2**29, 2**27):
            file[name][start:start + 2**20] = 0

    def odd_float(sizes):
        def make(file, name):
            kind = h5py.h5t.IEEE_F64LE.copy()
            kind.set_fields(*sizes)
            space = h5py.h5s.create_simple((16, 1, 3, 3))
            h5py.h5d.create(file.id, name.encode(), kind, space)
        return make

    def odd_integer(size, precision, offset):
        def make(file, name):
            kind = h5py.h5t.STD_I64LE.copy()
            kind.set_size(size)
            kind.set_precision(precision)
            kind.set_offset(offset)
            space = h5py.h5s.create_simple((16, 1, 3, 3))
            h5py.h5d.create(file.id, name.encode(), kind, space)
        return make

    def opaque(size):
        def make(file, name):
            kind = h5py.h5t.create(h5py.h5t.OPAQUE, size)
            h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((16, 1, 3, 3)))
        return make

    def array(*shape):
        def make(file, name):
            kind = h5py.h5t.array_create(h5py.h5t.IEEE_F32LE, shape)
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)
            h5py.h5d.create(
                file.id, name.encode(), kind, h5py.h5s.create_simple((16, 1)), properties)
        return make

    compound = numpy.zeros((16, 1, 3, 3), [("r", "f4"), ("i", "f4")])
    yield "none", empty
    yield "reference", reference
    yield "variable-lengths", lengths
    yield "compound", data(compound)
    yield "complex", data(numpy.zeros((16, 1, 3, 3), "c8"))
    yield "strings", data(numpy.array([b"x\x1b[31m\nFORGED"] * 16))
    yield "long-string", data("a" * 1_000_000)
    yield "enum", data(numpy.zeros((16, 1, 3, 3), "i1"),
                       dtype=h5py.enum_dtype({"a": 0, "b\nFORGED": 1}, "i1"))
    yield "bools", data(numpy.zeros((16, 1, 3, 3), bool))
    yield "big-endian", data(numpy.zeros((16, 1, 3, 3), ">f4"))
    yield "float16", data(numpy.zeros((16, 1, 3, 3), "f2"))
    yield "float64-huge", data(numpy.full((16, 1, 3, 3), 1e308))
    yield "float128", data(numpy.zeros((16, 1, 3, 3), "g"))
    yield "nan", data(numpy.full((16, 1, 3, 3), numpy.nan, "f4"))
    yield "infinity", data(numpy.full((16, 1, 3, 3), numpy.inf, "f4"))
    yield "denormal", data(numpy.full((16, 1, 3, 3), 1e-45, "f4"))
    yield "uint64-max", data(numpy.full((16, 1, 3, 3), 2**64 - 1, "u8"))
    yield "scalar", data(numpy.float32(1))
    yield "bomb", bomb
    yield "float-fields-1", odd_float((63, 0, 63, 0, 0))
    yield "float-fields-2", odd_float((63, 52, 11, 0, 1))
    yield "integer-offset-63", odd_integer(8, 1, 63)
    yield "integer-64-bytes", odd_integer(64, 512, 0)
    yield "opaque-1", opaque(1)
    yield "opaque-4", opaque(4)
    yield "opaque-1-GiB", opaque(2**26)
    yield "array-3-3", array(3, 3)
    yield "array-2^20", array(2**10, 2**10)


def _links():
    def cyclic(file, name):
        file.create_group(name)["again"] = file["/"]

    def soft(target):
        def make(file, name):
            file[name] = h5py.SoftLink(target)
        return make

    def external(path, target="/x"):
        def make(file, name):
            file[name] = h5py.ExternalLink(path, target)
        return make

    def deep(count):
        def make(file, name):
            group = file
            for _ in range(count):
                group = group.create_group("a")
            file[name] = group
        return make

    def user_defined(file, name):
        file.create_group(name)

    def storage(path):
        def make(file, name):
            file.create_dataset(name, (16, 1, 3, 3), "f4", external=[(path, 0, h5py.h5f.UNLIMITED)])
        return make

    def virtual(path):
        def make(file, name):
            layout = h5py.VirtualLayout((16, 1, 3, 3), "f4")
            layout[...] = h5py.VirtualSource(path, "stem.0.weight", (16, 1, 3, 3))
            file.create_virtual_dataset(name, layout)
        return make

    yield "cycle", cyclic
    yield "group", user_defined
    for target in ("/", ".", "nowhere", "/stem.0.weight", "a" * 50_000):
        yield f"soft={label(target)}", soft(target)
    for path in ("base/state.h5", "/dev/zero", "/etc/passwd", "file.h5", "."):
        yield f"external={label(path)}", external(path, "stem.0.weight")
        yield f"storage={label(path)}", storage(path)
        yield f"virtual={label(path)}", virtual(path)
    for count in (31, 33, 1000, 20_000):
        yield f"deep={count}", deep(count)


def _names():
    """Additional datasets with absurd names."""
    for name in ("x\x1b[31mred", "x\nFORGED message", "a" * 60_000, "../../x", ".hidden",
        "x\u202ey",
                 "\u0000x".strip("\0"), "１", " ", "a/" * 20 + "b", "x\x9by", "x\ry", "con:aux"):
        yield f"name={label(name)}", lambda file, name=name: file.create_dataset(
            name, data=numpy.zeros(1, "f4"))
        yield f"photo={label(name)}", lambda file, name=name: file.require_group(
            "photos").create_dataset(name, data=numpy.zeros((8, 8, 3), "u1"))


def _many():
    def datasets(count):
        def change(file):
            group = file.require_group("photos")
            kind, space = h5py.h5t.STD_U8LE, h5py.h5s.create_simple((8, 8, 3))
            for index in range(count):
                h5py.h5d.create(group.id, str(index).encode(), kind, space)
        return change

    def hard_links(file):
        group = file.require_group("photos")
        first = group.create_dataset("first", data=numpy.zeros((8, 8, 3), "u1"))
        # Packing says of each photo why it is left out.
        for index in range(2000):
            group[f"again{index}"] = first

    def doubling(file):
        group = file.create_group("g0")
        for index in range(1, 30):
            lower = file.create_group(f"g{index}")
            group["a"], group["b"] = lower, lower
            group = lower

    yield "3000-datasets", datasets(3000)
    yield "2000-hard-links", hard_links
    yield "doubling-groups", doubling


PICTURES = [(0, 0, 3), (1, 1, 3), (2**31, 1, 3), (1, 2**31, 3), (2**40, 2**20, 3), (8, 8, 0), (8, 8,
    4),
            (8, 8, 2**40), (16384, 16384, 3), (16384, 3906, 3), (16385, 1, 3), (8, 8), (8, 8, 3, 1),
            (2**59, 2, 3), (0, 2**40, 3), (1, 16384, 3), (16384, 1, 3)]


def _attributes():
    """The attributes of a checkpoint."""
    for name in ("retint_checkpoint", "architecture", "option.width", "training"):
        for value in (0, -1, 2, 2**63 - 1, numpy.uint64(2**64 - 1), float("nan"), "", "x\nFORGED",
                      "x\x1b[31m", "1e400", "nan", "-1", "1e-320", "0.0625 ", "eccv16", "{}",
                      "[" * 10_000,
                      numpy.zeros(1000), numpy.zeros((2, 2), "S1"), b"\xff\xfe",
                      "a" * 60_000, h5py.Empty("f4")):
            shown = type(value).__name__ if isinstance(value, (numpy.ndarray,
                h5py.Empty)) else value
            yield f"{name}={label(shown)}", lambda file, name=name, value=value: (
                file.attrs.__setitem__(name, value))

    def reference(file):
        file.attrs.create("architecture", file.ref, dtype=h5py.ref_dtype)

    def lengths(file):
        file.attrs.create("architecture", numpy.zeros(9, "f4"), dtype="f4")
        file.attrs.create("option.width", [b"a"] * 1000)

    def unknown(file):
        for index in range(2000):
            file.attrs[f"option.x{index}\nFORGED"] = "1"

    yield "reference", reference
    yield "arrays", lengths
    yield "2000-options", unknown


def _placed(base):
    """(name, rule, command, files) of each dataset in each part."""
    for group, subjects in (("space", _spaces), ("stored", _stored), ("links", _links)):
        for index, (name, make) in enumerate(subjects()):
            for step, (part, (dataset, commands)) in enumerate(PARTS.items()):
                if (index + step) % 2 and group != "stored":
                    continue
                command = commands[index // 2 % len(commands)]
                yield (f"{group}/{part[:-3]}/{name}", TOLERATED, command,
                       _changed(base, part, _replace(dataset, make)))
    for index, (name, change) in enumerate((*_names(), *_many())):
        part = ("pack.h5" if "photo" in name or index % 3 == 0 else
                ("state.h5", "model.h5", "reference.h5")[index % 3])
        commands = PARTS[part][1]
        yield (f"names/{part[:-3]}/{name}", TOLERATED, commands[index // 2 % len(commands)],
               _changed(base, part, change))
    for index, shape in enumerate(PICTURES):
        for command in (PACK, REPACK, EVALUATE):
            yield (f"photo/{label(str(shape))}", TOLERATED, command, _changed(
                base, "pack.h5",
                _replace("photos/photo0.png", _unstored(shape, kind=h5py.h5t.STD_U8LE))))
    for index, (name, change) in enumerate(_attributes()):
        commands = PARTS["model.h5"][1]
        yield (f"attribute/{name}", TOLERATED, commands[index % len(commands)],
               _changed(base, "model.h5", change))


def _references(base):
    for shape in ((0,), (1,), (1, 1, 0, 32), (1, 1, 1, 1), (1, 1, 33, 31), (1, 1, 2**40, 1),
                  (2**60, 1, 1, 1), (2, 1, 32, 32), (1, 3, 32, 32), (1, 1, 32), (), (2**31, 1, 1,
                      1),
                  (1, 1, 2**14, 2**14), (1, 1, 2**16, 2**16), (4096, 1, 32, 32), (1,) * 20):
        for name in ("inputs/input", "outputs/ab", "activations/stem"):
            def change(file, name=name, shape=shape):
                if name in file:
                    del file[name]
                _unstored(shape)(file, name)
            for model in ("base/iOS15.mlpackage", "base/model.h5"):
                if name.startswith("act") and model.endswith("h5"):
                    continue
                yield (f"reference/{name.split('/')[0]}={label(str(shape))}", TOLERATED,
                       ("verify", model, "--reference", "file.h5", "--json"),
                       _changed(base, "reference.h5", change))


def _bytes():
    """Files that are no HDF5, or end early."""
    for content in (b"", b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n" + bytes(100),
                    b"\x89HDF\r\n\x1a\n" + b"\xff" * 1000, bytes(512) + b"\x89HDF\r\n\x1a\n"):
        for command in (CHECKPOINT, STATE, PACK, REFERENCE):
            yield (f"bytes/{label(repr(content))}", REFUSED, command,
                   lambda folder, content=content: (folder / "file.h5").write_bytes(content))


def cases(base):
    """All of these files, in turn with the commands that read them."""
    made = [
        Case(f"hdf5/{name}", rule, command, files, keeps=("out",))
        for name, rule, command, files in (*_placed(base), *_references(base), *_bytes())]
    return named_once(made)
