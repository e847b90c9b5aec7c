"""Small files that ask for much: time without end, memory by sharing and holes, other files by
links; and little room for memory or files."""

import os
import pickle
import shutil
import struct

import h5py
import numpy
from onnx import helper, numpy_helper
from PIL import Image

from . import intermediates_files, mil, pytorch_files, safetensors_files
from .base_files import SIDE
from .case import (
    ACCEPTED, Case, DATA, FAILED, FINE, REFUSED, Rule, TOLERANCE, TOLERATED, UNWRITABLE,
    named_once,
)

WORK = Rule((DATA,), "multiply-adds")
SHARED = Rule((DATA,), "the values up to it take")
HOLES = Rule((DATA,), "the rest are holes")
LINK = Rule((DATA,), "it is a symbolic link")
GIBIBYTE = 1 << 30


# MARK: Time


def _network(nodes, initializers=(), shape=(1, 1, 32, 32)):
    graph = helper.make_graph(
        nodes, "hostile", [helper.make_tensor_value_info("x", 1, list(shape))],
        [helper.make_tensor_value_info("y", 1, None)], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _chain(kind, count, extra=(), first="x", **attributes):
    """Nodes to y, each of which has the one before as its input."""
    names = [first, *(f"v{index}" for index in range(1, count)), "y"]
    return [
        helper.make_node(kind, [names[i], *extra], [names[i + 1]], **attributes)
        for i in range(count)]


def _floats(name, values):
    return numpy_helper.from_array(numpy.asarray(values, "f4"), name)


def _endless_networks():
    """ONNX networks whose values are small."""
    side = (1, 1, 1024, 1024)
    square = [helper.make_node("MatMul", [f"m{i}", f"m{i}"], [f"m{i + 1}"]) for i in range(3000)]
    ends = [helper.make_node("Identity", ["x"], ["m0"]), helper.make_node(
        "Identity", ["m3000"], ["y"])]
    yield "products", _network([ends[0], *square, ends[1]], shape=(1, 1, 2048, 2048))
    yield "convolutions", _network(
        [helper.make_node("Concat", ["x"] * 64, ["c0"], axis=1),
         *(helper.make_node("Conv", [f"c{i}", "w"], [f"c{i + 1}"], pads=[1, 1, 1, 1])
           for i in range(1000)),
         helper.make_node("Identity", ["c1000"], ["y"])],
        [_floats("w", numpy.full((64, 64, 3, 3), 0.01))], side)
    yield "transposed-convolutions", _network(
        [helper.make_node("Concat", ["x"] * 64, ["c0"], axis=1),
         *(helper.make_node("ConvTranspose", [f"c{i}", "w"], [f"c{i + 1}"], pads=[1, 1, 1, 1])
           for i in range(1000)),
         helper.make_node("Identity", ["c1000"], ["y"])],
        [_floats("w", numpy.full((64, 64, 3, 3), 0.01))], side)
    window = {"kernel_shape": [701, 701], "pads": [350] * 4, "strides": [1, 1]}
    for kind in ("MaxPool", "AveragePool"):
        yield f"{kind.lower()}s", _network(_chain(kind, 3, **window), shape=(1, 1, 1400, 1400))
        row = {"kernel_shape": [1, 2**19], "pads": [0, 2**18 - 1] * 2, "strides": [1, 1]}
        yield f"{kind.lower()}-row", _network(
            _chain(kind, 1, **row), shape=(1, 1, 4, 2**19))
    for kind in ("Softmax", "Sigmoid", "Erf"):
        yield f"{kind.lower()}s", _network(
            [helper.make_node("Concat", ["x"] * 16, ["c"], axis=1),
             *_chain(kind, 10_000, first="c")], shape=side)
    yield "sorting", _network(
        [node for i in range(200) for node in (
            helper.make_node("TopK", [f"t{i}" if i else "x", "k"], [f"t{i + 1}", f"i{i}"], axis=3),
        )] + [helper.make_node("Identity", ["t200"], ["y"])],
        [numpy_helper.from_array(numpy.array([2**20], "i8"), "k")], (1, 1, 1, 2**20))


def _endless_programs():
    """Core ML programs of the same kinds."""
    def convolution(program, x, weight, channels, side):
        return program.add(
            "conv", {
                "x": x, "weight": weight, "strides": mil.value([1, 1]),
                "pad_type": mil.value("same"), "pad": mil.value([0] * 4),
                "dilations": mil.value([1, 1]), "groups": mil.value(1)},
            [[1, channels, side, side]])

    program = mil.Program(side=512)
    weights = [program.constant(mil.value([0.01] * count, [64, count // 576, 3, 3]))
               for count in (576, 64 * 576)]
    x = convolution(program, "input", weights[0], 64, 512)
    for _ in range(1000):
        x = convolution(program, x, weights[1], 64, 512)
    yield "convolutions", program.finish(x)
    for kind in ("max_pool", "avg_pool"):
        program = mil.Program(side=1400)
        x = "input"
        for _ in range(3):
            parameters = {
                "x": x, "kernel_sizes": mil.value([701, 701]), "strides": mil.value([1, 1]),
                "pad_type": mil.value("custom"), "pad": mil.value([350] * 4),
                "ceil_mode": mil.value(False)}
            if kind == "avg_pool":
                parameters["exclude_padding_from_average"] = mil.value(False)
            x = program.add(kind, parameters, [[1, 1, 1400, 1400]])
        yield kind, program.finish(x)
    program = mil.Program(side=2048)
    x = "input"
    for _ in range(1000):
        x = program.add(
            "matmul", {"x": x, "y": x, "transpose_x": mil.value(False),
                       "transpose_y": mil.value(True)}, [[1, 1, 2048, 2048]])
    yield "products", program.finish(x)


def _constants():
    """Networks of which much depends on constants alone."""
    def write(folder):
        nodes = [
            helper.make_node("Constant", [], ["s"], value=numpy_helper.from_array(
                numpy.array([1024, 1024], "i8"))),
            helper.make_node("ConstantOfShape", ["s"], ["m0"],
                             value=helper.make_tensor("value", 1, [1], [0.001])),
            *(helper.make_node("MatMul", [f"m{i}", "m0"], [f"m{i + 1}"]) for i in range(3000)),
            helper.make_node("ReduceMean", ["m3000"], ["z"], keepdims=0),
            helper.make_node("Add", ["x", "z"], ["y"])]
        (folder / "file.onnx").write_bytes(_network(nodes).SerializeToString())

    for command in (
            ("export", "file.onnx", "-o", "p.mlpackage"), ("inspect", "file.onnx"),
            ("verify", "file.onnx", "--against", "file.onnx"),
            ("import", "file.onnx", "-o", "new.h5"), ("benchmark", "file.onnx"),
            ("verify", "file.onnx", "--certify")):
        yield Case(f"work/constants/{'-'.join(command[::2])}", TOLERATED, command, write)


def _indices():
    """Constants that do not fit the operations of which they are all inputs."""
    for index in (4, 2**31, -(2**63), 2**63 - 1):
        for kind, inputs in {"GatherElements": ["c", "i"], "ScatterElements": ["c", "i", "c"],
                             "Gather": ["c", "i"]}.items():
            nodes = [
                helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(
                    numpy.ones((1, 4), "f4"))),
                helper.make_node("Constant", [], ["i"], value=numpy_helper.from_array(
                    numpy.full((1, 4), index, "i8"))),
                helper.make_node(kind, inputs, ["z"], axis=1),
                helper.make_node("ReduceMean", ["z"], ["m"], keepdims=0),
                helper.make_node("Add", ["x", "m"], ["y"])]
            content = _network(nodes).SerializeToString()

            def write(folder, content=content):
                (folder / "file.onnx").write_bytes(content)

            for command in (("export", "file.onnx", "-o", "p.mlpackage"),
                            ("verify", "file.onnx", "--against", "file.onnx")):
                yield Case(f"indices/{kind}={index}/{command[0]}", REFUSED, command, write)


def _work():
    for name, model in _endless_networks():
        content = model.SerializeToString()

        def write(folder, content=content):
            (folder / "file.onnx").write_bytes(content)

        for command in (("verify", "file.onnx", "--against", "file.onnx"),
                        ("benchmark", "file.onnx")):
            yield Case(f"work/{name}/{command[0]}", WORK, command, write)
    for name, program in _endless_programs():
        for command in (
                ("verify", "model.mlpackage", "--against", "model.mlpackage"),
                ("verify", "model.mlpackage", "--against", "base/model.h5"),
                ("benchmark", "model.mlpackage"),
                ("colorize", "model.mlpackage", "base/photo.png", "-o", "out"),
                ("verify", "model.mlpackage", "--certify")):
            rule = Rule((DATA,)) if "base/model.h5" in command or "--certify" in command else WORK
            yield Case(f"work/program-{name}/{'-'.join(command[::2])}", rule, command,
                       program.write, keeps=("out",))


# MARK: Sharing


def _sharing():
    """Files in which many values are the same bytes."""
    count = 1 << 20

    def packages(folder, used=True):
        program = mil.Program()
        x = program.add("reduce_mean", {"x": "input", "keep_dims": mil.value(False)}, [[]])
        for _ in range(1000):
            weight = program.constant(mil.blob(64, mil.FLOAT32, [count]))
            product = program.add("mul", {"x": weight, "y": x}, [[count]])
            x = program.add("reduce_mean", {"x": product, "keep_dims": mil.value(False)}, [[]])
        program.finish(x).write(
            folder, weights=mil.weight_file((2, numpy.ones(count, "f4").tobytes())))

    for command in (
            ("verify", "model.mlpackage", "--against", "model.mlpackage"),
            ("inspect", "model.mlpackage"), ("benchmark", "model.mlpackage"),
            ("quantize", "model.mlpackage", "--weights", "int8", "-o", "small.mlpackage"),
            ("export", "model.mlpackage", "-o", "weights.safetensors")):
        yield Case(f"sharing/package/{command[0]}", SHARED, command, packages)

    def vectors(folder):
        """A table of vectors makes 8 GiB of two megabytes."""
        program = mil.Program("iOS18")
        shape = [1 << 21, 1, 1, 1]
        weight = program.add(
            "constexpr_lut_to_dense", {
                "indices": mil.blob(64, mil.UINT8, shape),
                "lut": mil.value([0.5] * 2048, [1, 1, 1, 1, 2, 1024]),
                "vector_axis": mil.value(1)}, [[1 << 21, 1024, 1, 1]])
        program.finish(program.add("mul", {"x": weight, "y": weight}, [[None] * 4])).write(
            folder, weights=mil.weight_file((3, bytes(1 << 21))))

    for command in (
            ("verify", "model.mlpackage", "--against", "model.mlpackage"),
            ("inspect", "model.mlpackage"), ("export", "model.mlpackage", "-o", "weights.h5")):
        yield Case(f"sharing/vectors/{command[0]}", Rule((DATA,)) if command[0] != "inspect"
                   else TOLERATED, command, vectors)

    views = {f"t{index}": pytorch_files.tensor(
        pytorch_files.storage(count), shape=(count,), strides=(1,)) for index in range(2000)}
    saved = pytorch_files.archive(views, data=bytes(4 * count))

    def torch(folder):
        (folder / "file.pth").write_bytes(saved)

    for command in (("inspect", "file.pth"), ("diff", "--no-run", "file.pth", "file.pth"),
                    ("average", "file.pth", "file.pth", "-o", "new.h5")):
        yield Case(f"sharing/views/{command[0]}", TOLERATED, command, torch)

    def zeros(folder):
        with h5py.File(folder / "file.h5", "w") as file:
            for index in range(8):
                file.create_dataset(
                    f"t{index}", data=numpy.zeros((64, 1 << 20), "i1"), chunks=(1, 1 << 20),
                    compression="gzip")

    for command in (("inspect", "file.h5"), ("diff", "--no-run", "file.h5", "file.h5"),
                    ("average", "file.h5", "file.h5", "-o", "new.h5")):
        yield Case(f"sharing/zeros/{command[0]}", TOLERATED, command, zeros)

    def reference(folder):
        with h5py.File(folder / "file.h5", "w") as file:
            file["inputs/input"] = numpy.full((1, 1, SIDE, SIDE), 50, "f4")
            file.create_dataset("outputs/ab", shape=(64, 1 << 20), dtype="f4",
                                chunks=(1, 1 << 20), compression="gzip", fillvalue=0)
            file["outputs/ab"][...] = 0

    yield Case("sharing/reference", REFUSED,
               ("verify", "base/model.h5", "--reference", "file.h5"), reference)


# MARK: Holes


def _sparse(path, head, size, tail=b""):
    """A file that begins and ends with bytes, and has a hole between."""
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(size)
        file.seek(size - len(tail))
        file.write(tail)


def _holes():
    def safetensors(kind, width):
        def write(folder):
            count = GIBIBYTE // width
            tensor = safetensors_files.tensor((count,), (0, GIBIBYTE), kind)
            head = safetensors_files.file({"a": tensor}, data=b"")
            _sparse(folder / "file.safetensors", head, len(head) + GIBIBYTE)
        return write

    for kind, width in (("F32", 4), ("I8", 1), ("F16", 2), ("BF16", 2), ("F64", 8)):
        for command in (("inspect", "file.safetensors"),
                        ("diff", "--no-run", "file.safetensors", "base/model.h5")):
            yield Case(f"holes/safetensors-{kind}/{command[0]}", HOLES, command,
                       safetensors(kind, width))

    def legacy(folder):
        """The format before PyTorch 1.6, whose storages follow the pickles."""
        count = GIBIBYTE // 4
        parts = [pickle.dumps(0x1950a86a20f9469cfc6c, 2), pickle.dumps(1001, 2),
                 pickle.dumps({"little_endian": True}, 2)]
        tensor = pytorch_files.tensor(
            pytorch_files.storage(count), shape=(2,), strides=(count - 1,))
        parts += [pytorch_files.whole({"a": tensor}), pickle.dumps(["0"], 2),
                  struct.pack("<Q", count)]
        head = b"".join(parts)
        _sparse(folder / "file.pth", head, len(head) + GIBIBYTE)

    yield Case("holes/legacy/inspect", HOLES, ("inspect", "file.pth"), legacy)
    yield Case("holes/legacy/import", HOLES, pytorch_files.IMPORT, legacy)

    def numbers(folder):
        intermediates_files_folder(folder)
        shape = (GIBIBYTE // 4,)
        head = intermediates_files.file(shape, data=b"")
        _sparse(folder / intermediates_files.FOLDER / "data/x.npy", head, len(head) + GIBIBYTE)
        (folder / intermediates_files.FOLDER / "metadata.json").write_text(
            intermediates_files.metadata(inputs={"x": intermediates_files.node("x", shape)}))

    yield Case("holes/npy", HOLES, intermediates_files.COMMAND, numbers)

    def matrix(folder):
        head = intermediates_files.file((1, 1, 2**14, 2**14), data=b"")
        _sparse(folder / "file.npy", head, len(head) + GIBIBYTE)

    yield Case("holes/inputs", HOLES, (
        "verify", "base/model.h5", "--against", "base/model.h5", "--inputs", "file.npy"), matrix)
    for name, command in {
        "file.mlmodel": ("inspect", "file.mlmodel"), "file.onnx": ("inspect", "file.onnx"),
    }.items():
        def model(folder, name=name):
            # A field with a long text, and in a Core ML model first a neural network's field.
            head = b"\x08\x04\xa2\x1f\x00" if name.endswith("mlmodel") else b"\x08\x08"
            size = GIBIBYTE
            field = b"\xfa\xff\x03" + b"\x80\x80\x80\x80\x04"
            _sparse(folder / name, head + field, len(head) + len(field) + size)

        yield Case(f"holes/{name}", REFUSED, command, model)

    def weights(folder):
        program = mil.Program()
        shape = [GIBIBYTE // 4]
        weight = program.constant(mil.blob(64, mil.FLOAT32, shape))
        program.finish(program.add("mul", {"x": weight, "y": weight}, [shape])).write(
            folder, weights=mil.weight_file((2, b"", GIBIBYTE)))
        os.truncate(folder / "model.mlpackage" / mil.WEIGHTS_PATH, GIBIBYTE + 128)

    for command in (
            ("verify", "model.mlpackage", "--against", "model.mlpackage"),
            ("inspect", "model.mlpackage"),
            ("quantize", "model.mlpackage", "--weights", "int8", "-o", "small.mlpackage"),
            ("export", "model.mlpackage", "-o", "weights.safetensors")):
        yield Case(f"holes/package/{command[0]}", HOLES, command, weights)

    def contiguous(folder):
        with h5py.File(folder / "file.h5", "w") as file:
            space = h5py.h5s.create_simple((GIBIBYTE // 4,))
            kept = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            kept.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
            kept.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            h5py.h5d.create(file.id, b"a", h5py.h5t.IEEE_F32LE, space, kept)

    for command in (("inspect", "file.h5"), ("diff", "--no-run", "file.h5", "base/model.h5")):
        yield Case(f"holes/hdf5/{command[0]}", HOLES, command, contiguous)

    def photo(folder):
        content = (folder / "base/photo.png").read_bytes()
        _sparse(folder / "photo.png", content, 200 << 20)

    yield Case("holes/photo", Rule((FAILED, DATA), "the rest are holes"),
               ("colorize", "base/model.h5", "photo.png", "-o", "out"), photo, keeps=("out",))


# MARK: Links and files of others


def intermediates_files_folder(folder):
    """A healthy folder of intermediate values."""
    data = folder / intermediates_files.FOLDER / "data"
    data.mkdir(parents=True)
    (data.parent / "metadata.json").write_text(intermediates_files.metadata())
    for name in ("x", "relu"):
        (data / f"{name}.npy").write_bytes(intermediates_files.file())
    numpy.save(data / "y.npy", numpy.zeros((1, 2, SIDE, SIDE), "<f4"))


def _links():
    def moved(name, target=None):
        """A file or folder that is elsewhere, with a link in its place."""
        def write(folder):
            intermediates_files_folder(folder)
            place = folder / intermediates_files.FOLDER / name
            if target is None:
                place.rename(folder / "elsewhere")
                place.symlink_to(folder / "elsewhere")
            else:
                shutil.rmtree(place) if place.is_dir() else place.unlink()
                place.symlink_to(target)
        return write

    for name in ("data", "data/x.npy", "data/y.npy", "metadata.json"):
        yield Case(f"links/intermediates/{name.replace('/', '-')}", LINK,
                   intermediates_files.COMMAND, moved(name))
    for target in ("/dev/zero", "/etc/passwd", "x.npy", "nowhere"):
        yield Case(f"links/intermediates/x-to-{target.strip('/').replace('/', '-')}", LINK,
                   intermediates_files.COMMAND, moved("data/x.npy", target))
    for target in ("/", "..", "data"):
        yield Case(f"links/intermediates/data-to-{target.replace('/', 'root')}", LINK,
                   intermediates_files.COMMAND, moved("data", target))

    def pipe(folder):
        intermediates_files_folder(folder)
        place = folder / intermediates_files.FOLDER / "data/x.npy"
        place.unlink()
        os.mkfifo(place)

    yield Case("links/intermediates/pipe", REFUSED, intermediates_files.COMMAND, pipe)

    write = ("verify", "base/model.h5", "--reference", "base/reference.h5", "--intermediates",
             intermediates_files.FOLDER, "--atol", "1000", "--max-mean", "1000")
    occupied = Rule((FAILED, DATA))

    def dataset(folder):
        data = folder / intermediates_files.FOLDER / "data"
        data.mkdir(parents=True)
        (data.parent / "metadata.json").write_text('{"samples": 1}')
        (data / "0.npy").write_bytes(b"samples")

    yield Case("links/onto-a-data-set", occupied, write, dataset)

    def link(folder):
        intermediates_files_folder(folder)
        (folder / intermediates_files.FOLDER / "data").rename(folder / "elsewhere")
        (folder / intermediates_files.FOLDER / "data").symlink_to("../elsewhere")

    yield Case("links/onto-a-link", occupied, write, link)

    def other_file(folder):
        intermediates_files_folder(folder)
        (folder / intermediates_files.FOLDER / "data/letter.txt").write_text("mine")

    yield Case("links/onto-a-letter", occupied, write, other_file)


def _others():
    """Folders beside an output, with names that only look like those of leftovers."""
    outputs = {
        "p.mlpackage": ("export", "base/model.h5", "-o", "p.mlpackage", "--size", str(SIDE)),
        "p.aimodel": ("export", "base/model.h5", "-o", "p.aimodel", "--size", str(SIDE)),
        "shards": ("dataset", "pack", "base/photos", "-o", "shards", "--shards", "2"),
    }
    for output, command in outputs.items():
        for name in (f".{output}.old", f".{output}.retint-old", f".{output}.2147483646-x.partial",
                     f".{output}.2147483646-x.old"):
            def write(folder, name=name):
                (folder / name).mkdir()
                (folder / name / "letter.txt").write_text("mine")

            yield Case(f"others/{output}/{name.removeprefix('.' + output + '.')}", ACCEPTED,
                       command, write)

        def folder_of_others(folder, output=output):
            (folder / output).mkdir()
            (folder / output / "letter.txt").write_text("mine")

        yield Case(f"others/{output}/itself", UNWRITABLE, command, folder_of_others)


# MARK: Little room


def _room():
    full = Rule((FAILED,), "ulimit -f")
    part = ("verify", "base/iOS16.mlpackage", "--against", "base/model.h5", "--atol", "0",
            "--max-mean", "0", "--reduce", "part.mlpackage")
    commands = {
        "reduce": part,
        "export": ("export", "base/model.h5", "-o", "p.mlpackage", "--size", str(SIDE)),
        "aimodel": ("export", "base/model.h5", "-o", "p.aimodel", "--size", str(SIDE)),
        "onnx": ("export", "base/model.h5", "-o", "p.onnx", "--size", str(SIDE)),
        "import": ("import", "base/state.h5", "--architecture", "pico-unet", "--width", "0.0625",
                   "-o", "new.h5"),
        "quantize": ("quantize", "base/iOS16.mlpackage", "--weights", "int8", "--threshold", "0",
                     "-o", "small.mlpackage"),
        "pack": ("dataset", "pack", "base/photos", "-o", "pack.h5"),
        "intermediates": (
            "verify", "base/model.h5", "--reference", "base/reference.h5", "--intermediates",
            "x.aimodelintermediates"),
        "save": ("verify", "base/model.h5", "--reference", "base/reference.h5", "--save", "r.json"),
    }
    for name, command in commands.items():
        yield Case(f"room/file-size/{name}", full, command, file_size=512)
    for size in (8 << 10, 64 << 10):
        yield Case(f"room/file-size/reduce-{size}", Rule((FAILED, TOLERANCE)), part,
                   file_size=size)
    for size in (300, 400, 600, 840):
        for name, command in {
            "benchmark": ("benchmark", "base/model.h5", "--size", "32"),
            "tune": ("benchmark", "base/model.h5", "--size", "32", "--tune"),
            "colorize": ("colorize", "base/model.h5", "base/photo.png", "-o", "out"),
            "inspect": ("inspect", "base/model.h5"),
        }.items():
            yield Case(f"room/address-space-{size}/{name}", Rule((FINE, FAILED, DATA)), command,
                       keeps=("out",), address_space=size << 20)


def _photos():
    """Photos of the most pixels that are read, in files of a few hundred kilobytes."""
    def write(folder):
        image = Image.new("RGB", (8000, 8000), (90, 120, 60))
        image.save(folder / "a.png")
        shutil.copy(folder / "a.png", folder / "b.png")
        shutil.copy(folder / "a.png", folder / "c.png")
        Image.new("L", image.size, 255).save(folder / "mask.png")

    photos = ("colorize", "base/model.h5", "a.png", "b.png", "c.png", "-o", "out")
    yield Case("photos/three", ACCEPTED, photos, write, keeps=("out",), seconds=20)
    yield Case("photos/masks", ACCEPTED, (*photos, "--mask", "mask.png"), write, keeps=("out",),
               seconds=20)


def cases(base):
    families = (
        _work, _constants, _indices, _sharing, _holes, _links, _others, _room, _photos)
    return named_once([case for family in families for case in family()])
