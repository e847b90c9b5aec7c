"""Healthy files of Apple's other formats, records of verifications, indices of shards and stored
kernels, each with a part replaced; paths in files that combining characters hide; and variables of
the environment."""

import hashlib
import json
import os
import random
import shutil

import h5py
import numpy
import onnx
from onnx import helper, numpy_helper
import retint_tool

from .case import (
    ACCEPTED, Case, DATA, FAILED, FINE, REFUSED, Rule, TOLERANCE, USAGE, label, named_once)
from .numbers import INT64

READ = Rule((FINE, TOLERANCE, FAILED, DATA))
# A name that begins with it hides the slash before it from those who look for characters.
ACCENT = "\u0301"
GOLDENS = retint_tool.ROOT / "Tests"


# MARK: Bytes


def _damages(content, count, name):
    """Copies of bytes, each damaged in another way."""
    source = random.Random(name)
    for index in range(count):
        data, kind = bytearray(content), index % 8
        place = source.randrange(len(data))
        if kind < 3:
            data[place] ^= (0x01, 0x80, 0xFF)[kind]
        elif kind == 3:
            del data[place:]
        elif kind == 4:
            # The longest number of variable length.
            data[place:place + 1] = b"\xff" * 9 + b"\x01"
        elif kind == 5:
            del data[place:place + source.randrange(1, 64)]
        elif kind == 6:
            length = source.randrange(1, 256)
            data[place:place] = data[max(0, place - length):place]
        else:
            for _ in range(source.randrange(2, 20)):
                data[source.randrange(len(data))] = source.choice((0, 1, 0x7F, 0x80, 0xFF))
        yield index, bytes(data)


def _aimodels():
    commands = (
        ("inspect", "x.aimodel"), ("verify", "x.aimodel", "--against", "x.aimodel"),
        ("export", "x.aimodel", "-o", "new.mlpackage"),
        ("diff", "--no-run", "x.aimodel", "x.aimodel"))
    for name in ("elementwise", "images", "invoked", "layout", "quantized", "weights"):
        golden = GOLDENS / f"AIModelTests/Goldens/{name}.aimodel"
        program = (golden / "main.mlirb").read_bytes()

        def write(folder, data, golden=golden):
            shutil.copytree(golden, folder / "x.aimodel")
            (folder / "x.aimodel/main.mlirb").write_bytes(data)
            (folder / "x.aimodel/main.hash").write_bytes(hashlib.sha256(data).digest())

        for index, data in _damages(program, 40, name):
            yield Case(f"damaged/aimodel/{name}-{index}", READ, commands[index % 4],
                       lambda folder, data=data, write=write: write(folder, data))

    def described(content, file="metadata.json"):
        def write(folder):
            shutil.copytree(GOLDENS / "AIModelTests/Goldens/images.aimodel", folder / "x.aimodel")
            (folder / "x.aimodel" / file).write_bytes(content)
        return write

    for content in (b"", b"x", b"null", b"[]", b"{}", b"[" * 100_000, b'{"a":' * 100_000,
                    b'{"x\\u001b[31m\\nFORGED": 1}', b'"\\ud800"', b"\xff", b"\0" * 100,
                    b'{"name": "' + b"x" * 1_000_000 + b'"}', b'{"version": 1e999}'):
        yield Case(f"damaged/aimodel/description={label(repr(content[:30]))}", READ, commands[0],
                   described(content))
    for content in (b"", b"\0" * 31, b"\0" * 33, b"\0" * 32, b"x" * 1_000_000):
        yield Case(f"damaged/aimodel/hash={len(content)}-{label(repr(content[:2]))}", READ,
                   commands[1], described(content, "main.hash"))


def _mlmodels():
    commands = (
        ("inspect", "x.mlmodel"), ("verify", "x.mlmodel", "--against", "x.mlmodel"),
        ("export", "x.mlmodel", "-o", "new.mlpackage"), ("benchmark", "x.mlmodel", "--runs", "1"))
    folder = GOLDENS / "NeuralNetworkTests/Goldens"
    for file in sorted(folder.glob("*.mlmodel")):
        for index, data in _damages(file.read_bytes(), 12, file.stem):
            yield Case(
                f"damaged/mlmodel/{file.stem}-{index}", READ, commands[index % 4],
                lambda folder, data=data: (folder / "x.mlmodel").write_bytes(data))
    for compiled in sorted(folder.glob("*.mlmodelc")):
        for part in sorted(path for path in compiled.rglob("*") if path.is_file()):
            for index, data in _damages(part.read_bytes(), 8, f"{compiled.stem}-{part.name}"):
                def write(folder, compiled=compiled, part=part, data=data):
                    shutil.copytree(compiled, folder / "x.mlmodelc")
                    (folder / "x.mlmodelc" / part.relative_to(compiled)).write_bytes(data)

                yield Case(
                    f"damaged/mlmodelc/{compiled.stem}-{part.name}-{index}", READ,
                    tuple(word.replace(".mlmodel", ".mlmodelc") for word in commands[index % 3]),
                    write)


# MARK: Text


ABSURD = [None, True, -1, 0, 2**63 - 1, 2**63, -2**63, 1e308, -0.0, "", "x\x1b[31m\nFORGED",
          "../x", f"../{ACCENT}x", "/dev/zero", "\ud800", [], {}, [[]] * 3, "9" * 5000, "nan",
          "inf", -1e-320]


def _leaves(value, path=()):
    """The paths of all parts of a JSON value."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from _leaves(value[key], (*path, key))
    elif isinstance(value, list):
        for index in list(range(len(value)))[:2]:
            yield from _leaves(value[index], (*path, index))


def _replaced(value, path, new):
    copy = json.loads(json.dumps(value))
    part = copy
    for key in path[:-1]:
        part = part[key]
    if new is KeyError:
        del part[path[-1]]
    else:
        part[path[-1]] = new
    return copy


def _records(base):
    """The record of a verification, which `replay` reads and runs again."""
    record = json.loads((base / "results.json").read_text())
    for index, path in enumerate(_leaves(record)):
        for step in range(2):
            new = KeyError if step == 1 and index % 3 == 0 else ABSURD[
                (index * 5 + step * 11) % len(ABSURD)]
            text = json.dumps(_replaced(record, path, new))

            def write(folder, text=text):
                (folder / "results.json").write_text(text)
                for name in ("iOS15.mlpackage", "model.h5"):
                    (folder / name).symlink_to(f"base/{name}")

            name = "-".join(str(part) for part in path)
            yield Case(
                f"damaged/record/{label(name)}={label(repr(new))}",
                Rule((FINE, TOLERANCE, FAILED, DATA, USAGE)), ("replay", "results.json"), write)


# MARK: Shards


def _shards(base):
    def change(name, body):
        def write(folder):
            names = ["photo0.png", "photo1.png", "photo2.png", "photo3.png"]
            (folder / "photos").mkdir()
            for photo in names:
                shutil.copy(base / "photos" / photo, folder / "photos" / photo)
            retint_tool.run("dataset", "pack", folder / "photos", "-o", folder / "shards",
                            "--shards", 2)
            with h5py.File(folder / "shards/photos-index.h5", "r+") as file:
                body(file)
        return name, write

    def replace(dataset, values):
        def body(file):
            del file[dataset]
            file[dataset] = values
        return body

    def number(place, value):
        def body(file):
            table = file["photos/places"][...]
            table[place] = value
            replace("photos/places", table)(file)
        return body

    made = [change(f"place-{column}={value}", number((0, column), value))
            for column in range(4) for value in (*INT64, 2**40, 3)]
    made += [change(f"bytes={value}", replace("shards/bytes", numpy.array([value, value], "i8")))
             for value in INT64]
    for name, values in {
        "names-nul": b"\0" * 3, "names-bytes": b"\xff\0\xfe\0\xfd\0\xfc", "names-few": b"a",
        "names-many": b"a\0" * 100_000, "names-empty": b"",
        "names-equivalent": "e\u0301\0\u00e9\0y\0z".encode(),
        "names-slash": f"a\0b/{ACCENT}c\0../d\0/e".encode(),
        "names-escape": b"a\x1b[31m\0b\nFORGED\0c\0d",
    }.items():
        made.append(change(name, replace("photos/names", numpy.frombuffer(values, "u1"))))
    for name, values in {
        "digests-short": numpy.zeros((2, 31), "u1"), "digests-flat": numpy.zeros(64, "u1"),
        "digests-none": numpy.zeros((0, 32), "u1"), "digests-float": numpy.zeros((2, 32), "f4"),
    }.items():
        made.append(change(name, replace("shards/digests", values)))
    for name, values in {
        "places-float": numpy.zeros((4, 4), "f8"), "places-flat": numpy.zeros(16, "i8"),
        "places-none": numpy.zeros((0, 4), "i8"), "places-narrow": numpy.zeros((4, 3), "i8"),
    }.items():
        made.append(change(name, replace("photos/places", values)))
    for name, values in {
        "bytes-none": numpy.zeros(0, "i8"), "bytes-million": numpy.ones(1_000_000, "i8"),
        "bytes-float": numpy.ones(2, "f4"), "bytes-matrix": numpy.ones((2, 2), "i8"),
    }.items():
        made.append(change(name, replace("shards/bytes", values)))
    commands = (("dataset", "inspect", "shards"),
                ("evaluate", "base/model.h5", "--data", "shards", "--size", "32"))
    for index, (name, write) in enumerate(made):
        yield Case(f"damaged/shards/{name}", Rule((FINE, FAILED, DATA)), commands[index % 2], write)


# MARK: Hidden paths


HIDDEN = [f"../{ACCENT}x", f"a/../../{ACCENT}x", f"/{ACCENT}x", f"./{ACCENT}x", f"a//{ACCENT}x",
          f"..\u200d/../{ACCENT}x", f"link/{ACCENT}x", f"../\ufe0fx"]


def _secrets(folder):
    """Files where hidden paths lead."""
    for name in (f"{ACCENT}x", "\ufe0fx"):
        (folder / name).write_bytes(bytes(1 << 16))
    (folder / "model/a").mkdir(parents=True)
    (folder / "model/link").symlink_to("..")


def _hidden(base):
    for path in HIDDEN:
        def external(folder, path=path):
            _secrets(folder)
            weight = numpy_helper.from_array(numpy.zeros((1, 1, 1, 1), "f4"), "w")
            weight.ClearField("raw_data")
            weight.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", path), ("offset", "0"), ("length", "4")):
                entry = weight.external_data.add()
                entry.key, entry.value = key, value
            graph = helper.make_graph(
                [helper.make_node("Conv", ["x", "w"], ["y"])], "hostile",
                [helper.make_tensor_value_info("x", 1, [1, 1, 32, 32])],
                [helper.make_tensor_value_info("y", 1, None)], [weight])
            model = helper.make_model(
                graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
            (folder / "model/file.onnx").write_bytes(model.SerializeToString())

        for command in ("inspect", "import"):
            line = (command, "model/file.onnx", *(("-o", "new.h5") if command == "import" else ()))
            yield Case(f"hidden/onnx-{command}/{label(ascii(path))}", REFUSED, line, external)

        def manifest(folder, path=path):
            _secrets(folder)
            shutil.copytree(base / "iOS15.mlpackage", folder / "model/x.mlpackage")
            file = folder / "model/x.mlpackage/Manifest.json"
            text = json.loads(file.read_text())
            for item in text["itemInfoEntries"].values():
                item["path"] = path
            file.write_text(json.dumps(text))

        yield Case(f"hidden/package/{label(ascii(path))}", REFUSED,
                   ("inspect", "model/x.mlpackage"), manifest)

    def equivalent(folder):
        """Two files of weights whose names Unicode calls equivalent: 1 and 2."""
        weights = []
        for number, name in ((1, "\u00e9.bin"), (2, "e\u0301.bin")):
            numpy.full(1, number, "<f4").tofile(folder / name)
            weight = numpy_helper.from_array(numpy.zeros((1, 1, 1, 1), "f4"), f"w{number}")
            weight.ClearField("raw_data")
            weight.data_location = onnx.TensorProto.EXTERNAL
            entry = weight.external_data.add()
            entry.key, entry.value = "location", name
            weights.append(weight)
        graph = helper.make_graph(
            [helper.make_node("Conv", ["x", "w1"], ["z"]), helper.make_node(
                "Conv", ["z", "w2"], ["y"])], "two",
            [helper.make_tensor_value_info("x", 1, [1, 1, 32, 32])],
            [helper.make_tensor_value_info("y", 1, None)], weights)
        (folder / "two.onnx").write_bytes(helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
        inline = onnx.load(folder / "two.onnx", load_external_data=True)
        for tensor, number in zip(inline.graph.initializer, (1, 2)):
            tensor.CopyFrom(numpy_helper.from_array(
                numpy.full((1, 1, 1, 1), number, "f4"), tensor.name))
        (folder / "one.onnx").write_bytes(inline.SerializeToString())

    yield Case("hidden/equivalent-weights", ACCEPTED,
               ("verify", "two.onnx", "--against", "one.onnx"), equivalent)


# MARK: Names in files


TEXTS = {
    "return-break": "x\r\nFORGED", "break-mark": f"x\n{ACCENT}FORGED",
    "marks": "x" + ACCENT * 100_000,
    "letter-mark": "x\u061cy", "slash-mark": f"x/{ACCENT}y", "equivalent": "caf\u00e9",
    "tag": "x\U000e0041", "join": "x" + "\u200d" * 50_000 + "y", "next-line": "x\x85FORGED",
    "dots": f"../{ACCENT}x", "tab": "x\ty", "delete": "x\x7f", "csi": "x\x9b31m",
}


def _texts():
    """Names of tensors and of values."""
    for name, text in TEXTS.items():
        def tensors(folder, text=text):
            entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
            other = {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}
            head = json.dumps({text: entry, "cafe\u0301": other}).encode()
            (folder / "file.safetensors").write_bytes(
                len(head).to_bytes(8, "little") + head + bytes(8))

        for command in (
                ("inspect", "file.safetensors"), ("inspect", "file.safetensors", "--json"),
                ("diff", "--no-run", "file.safetensors", "base/model.h5"),
                ("import", "file.safetensors", "--architecture", "pico-unet", "-o", "new.h5"),
                ("average", "file.safetensors", "file.safetensors", "-o", "new.h5")):
            yield Case(f"text/tensor-{'-'.join(command[::2])}/{name}", READ, command, tensors)

        def network(folder, text=text):
            graph = helper.make_graph(
                [helper.make_node("Relu", ["x"], [text], name=text),
                 helper.make_node("Sigmoid", [text], ["y"])], text,
                [helper.make_tensor_value_info("x", 1, [1, 1, 32, 32])],
                [helper.make_tensor_value_info("y", 1, None)])
            (folder / "file.onnx").write_bytes(helper.make_model(
                graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
                producer_name=text, doc_string=text).SerializeToString())

        for command in (
                ("inspect", "file.onnx"), ("export", "file.onnx", "-o", "new.mlpackage"),
                ("verify", "file.onnx", "--against", "file.onnx", "--html", "page.html"),
                ("diff", "file.onnx", "base/iOS15.mlpackage", "--no-run"),
                ("export", "file.onnx", "-o", "new.onnx", "--author", text)):
            if len(text.encode()) < 100_000 or "--author" not in command:
                yield Case(f"text/network-{'-'.join(command[:3:2])}/{name}",
                           Rule((FINE, TOLERANCE, FAILED, DATA, USAGE)), command, network)


# MARK: Environment


def _environment():
    export = ("export", "base/model.h5", "-o", "new.onnx", "--size", "32")
    video = ("video", "base/model.h5", "base/video.y4m", "-o", "new.mp4", "--size", "32")
    report = ("inspect", "--system")
    verify = ("verify", "base/model.h5", "--against", "base/iOS15.mlpackage", "--size", "32")
    values = ["", " ", "/dev/null", "nowhere", "\udcff", "a" * 100_000, "x\x1b[31m\nFORGED", ACCENT,
              ":", "/dev/zero", "-1"]
    for name in ("TMPDIR", "PATH", "HOME", "XDG_CACHE_HOME", "RETINT_CHECKPOINTS",
                 "RETINT_COREAI_PYTHON", "RETINT_MPI_LIBRARY", "RETINT_CUDA_LIBRARIES", "COLUMNS",
                 "LC_ALL", "TERM", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "OPENBLAS_NUM_THREADS"):
        for index, value in enumerate(values):
            command = (export, video, report, verify)[(index + len(name)) % 4]
            yield Case(
                f"environment/{name}={label(ascii(value))}", Rule((FINE, FAILED, USAGE, DATA)),
                command, environment=((name, value),), keeps=("new.mp4",))


def _stored():
    """The measured kernels that are kept between runs."""
    def write(content):
        def files(folder):
            (folder / "cache/retint").mkdir(parents=True)
            place = folder / "cache/retint/kernels.json"
            if content is None:
                os.mkfifo(place)
            elif isinstance(content, str):
                place.symlink_to(content)
            else:
                place.write_bytes(content)
        return files

    for content in (b"", b"x", b"null", b"[" * 100_000, b'{"cpu": 1}',
                    b'{"cpu": "", "kernels": {}}', b"\xff", b'{"a":' * 50_000,
                    b" " * 3_000_000, None,
                    "/dev/zero", "/dev/full", "/proc/self/mem", "nowhere", ".", "kernels.json"):
        yield Case(
            f"stored/kernels={label(repr(content)[:24])}", ACCEPTED,
            ("benchmark", "base/model.h5", "--size", "32", "--runs", "1"), write(content),
            environment=(("XDG_CACHE_HOME", "cache"),))


def cases(base):
    """All of these files, paths and variables."""
    return named_once([
        *_aimodels(), *_mlmodels(), *_records(base), *_shards(base), *_hidden(base),
        *_texts(), *_environment(),
        *_stored()])
