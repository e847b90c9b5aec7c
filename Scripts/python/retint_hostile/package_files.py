"""Packages whose interface, types, weights, names, structure or manifest are absurd."""

import json
import os
import shutil
import struct

from . import mil
from .case import ACCEPTED, Case, FINE, DATA, REFUSED, Rule, TOLERATED, label, named_once
from .numbers import INT64, UINT64

VERIFY = ("verify", "model.mlpackage", "--against", "base/model.h5", "--json")
SELF = ("verify", "model.mlpackage", "--against", "model.mlpackage", "--json")
INSPECT = ("inspect", "model.mlpackage", "--json")
PLACEMENT = ("inspect", "model.mlpackage", "--placement")
COLORIZE = ("colorize", "model.mlpackage", "base/photo.png", "-o", "out")
QUANTIZE = ("quantize", "model.mlpackage", "-o", "small.mlpackage", "--weights", "int8",
            "--threshold", "0", "--json")
WEIGHTS = ("export", "model.mlpackage", "-o", "weights.safetensors", "--allow-folded")
READERS = [VERIFY, INSPECT, COLORIZE, QUANTIZE, WEIGHTS, PLACEMENT]


def _case(name, rule, command, files):
    keeps = ("out",) if command[0] == "colorize" else ()
    return Case(f"package/{name}", rule, command, files, keeps=keeps)


def changed(base, change, target="iOS16"):
    """Writes a healthy package with a changed model; the change gets the message."""
    def write(folder):
        shutil.copytree(base / f"{target}.mlpackage", folder / "model.mlpackage")
        model = mil.read(folder / "model.mlpackage")
        content = change(model)
        if not isinstance(content, bytes):
            content = model.SerializeToString()
        (folder / "model.mlpackage" / mil.MODEL_PATH).write_bytes(content)

    return write


# MARK: Interface


def _interface(base):
    def size(axis, number):
        def change(model):
            for feature in (model.description.input[0], model.description.output[0]):
                feature.type.multiArrayType.shape[axis] = number
        return change

    def program_size(number):
        def change(model):
            size(2, min(number, 2**63 - 1))(model)
            dimensions = model.mlProgram.functions["main"].inputs[0].type.tensorType.dimensions
            dimensions[2].constant.size = number
        return change

    def free(model, axes=(2, 3)):
        for axis in axes:
            dimensions = model.mlProgram.functions["main"].inputs[0].type.tensorType.dimensions
            dimensions[axis].unknown.variadic = False

    def ranges(lower, upper):
        def change(model):
            free(model)
            shape = model.description.input[0].type.multiArrayType.shapeRange
            for bounds in ((1, 1), (1, 1), (lower, upper), (lower, upper)):
                shape.sizeRanges.add(lowerBound=bounds[0], upperBound=bounds[1])
        return change

    def enumerated(*sizes):
        def change(model):
            free(model)
            shapes = model.description.input[0].type.multiArrayType.enumeratedShapes
            for side in sizes:
                shapes.shapes.add(shape=[1, 1, side, side])
        return change

    def image(width, height, space=10):
        def change(model):
            description = model.description.input[0].type.imageType
            description.width, description.height = width, height
            description.colorSpace = space
        return change

    for number in INT64:
        yield f"interface/height={number}", REFUSED, size(2, number)
        yield f"interface/batch={number}", REFUSED, size(0, number)
        yield f"interface/range-to={number}", TOLERATED, ranges(1, number)
        yield f"interface/enumerated={number}", TOLERATED, enumerated(32, number)
        yield f"interface/image={number}", REFUSED, image(number, 32)
    for number in UINT64:
        yield f"interface/program-height={number}", REFUSED, program_size(number)
        yield f"interface/range-from={number}", TOLERATED, ranges(number, -1)
    yield "interface/image-of-colors", REFUSED, image(32, 32, 20)
    yield "interface/100000-shapes", TOLERATED, enumerated(*range(32, 100_032))
    yield "interface/no-shapes", REFUSED, enumerated()
    yield "interface/no-inputs", REFUSED, lambda model: model.description.ClearField("input")
    yield "interface/no-outputs", REFUSED, lambda model: model.description.ClearField("output")
    yield "interface/10000-inputs", REFUSED, lambda model: model.description.input.extend(
        [model.description.input[0]] * 10_000)
    for number in (-(2**31), 0, 2**31 - 1):
        def version(model, number=number):
            model.specificationVersion = number
        yield f"interface/specification={number}", REFUSED, version


# MARK: Types


def _types(base):
    def first(model, kind):
        return next(one for one in mil.operations(model) if one.type == kind)

    def output(number):
        def change(model):
            dimensions = first(model, "conv").outputs[0].type.tensorType.dimensions
            dimensions[1].constant.size = number
        return change

    def weight(number):
        def change(model):
            for one in mil.operations(model):
                if one.type == "const" and one.attributes["val"].HasField("blobFileValue"):
                    for kind in (one.outputs[0].type, one.attributes["val"].type):
                        kind.tensorType.dimensions[0].constant.size = number
                    return
        return change

    def rank(number):
        def change(model):
            first(model, "conv").outputs[0].type.tensorType.rank = number
        return change

    for number in UINT64:
        yield f"types/output={number}", REFUSED, output(number)
        yield f"types/weight={number}", REFUSED, weight(number)
    for number in INT64:
        yield f"types/rank={number}", REFUSED, rank(number)

    def many(model):
        kind = first(model, "conv").outputs[0].type
        kind.CopyFrom(mil.tensor_type(mil.FLOAT32, [1] * 100_000))

    def variadic(model):
        first(model, "conv").outputs[0].type.tensorType.dimensions[0].unknown.variadic = True

    def deep_list(model):
        kind = first(model, "conv").outputs[0].type
        for _ in range(40):
            kind = kind.listType.type
        kind.tensorType.dataType = mil.FLOAT32

    yield "types/100000-dimensions", REFUSED, many
    yield "types/variadic", REFUSED, variadic
    yield "types/list-of-lists", REFUSED, deep_list
    for number in (0, 12, 13, 41, 99, 2**31 - 1):
        def data_type(model, number=number):
            first(model, "conv").outputs[0].type.tensorType.dataType = number
        yield f"types/data-type={number}", TOLERATED, data_type


# MARK: Structure


def _raw_operations(model, count):
    """A program of empty operations, written by hand: a message of each would take long."""
    function = model.mlProgram.functions["main"]
    opset = function.opset
    block = b"\x1a\x00" * count

    def field(number, content):
        length, size = b"", len(content)
        while size > 127:
            length, size = length + bytes([size & 127 | 128]), size >> 7
        head, tag = b"", number << 3 | 2
        while tag > 127:
            head, tag = head + bytes([tag & 127 | 128]), tag >> 7
        return head + bytes([tag]) + length + bytes([size]) + content

    body = field(3, field(1, opset.encode()) + field(2, block))
    main = field(2, field(1, b"main") + field(2, field(2, opset.encode()) + body))
    program = field(502, b"\x08\x01" + main)
    model.ClearField("mlProgram")
    return model.SerializeToString() + program


def _structure(base):
    def rename(name):
        def change(model):
            operation = mil.operations(model)[5]
            operation.outputs[0].name = name
            operation.attributes["name"].CopyFrom(mil.value(name))
        return change

    for name in ("", "a" * 10_000_000, "x\x1b[31mred", "x\nFORGED message", "x\x00y", "fp16",
                 "１", "../../x", "x\u202ey", "x\u2028y", "\x7f", "x\x9by"):
        yield f"structure/name={label(name)}", REFUSED, rename(name)

    def kind(name):
        def change(model):
            mil.operations(model)[-1].type = name
        return change

    for name in ("", "no_such_operation", "x\x1b[31mred", "x\nFORGED message", "a" * 5_000_000,
                 "while_loop", "const", "constexpr_unknown", "constexpr_lut_to_dense", "random"):
        yield f"structure/type={label(name)}", Rule((FINE, DATA)), kind(name)

    def parameter(name, rule=None):
        def change(model):
            operation = mil.operations(model)[-1]
            operation.inputs[name].arguments.add().name = "input"
        return change

    for name in ("", "x\x1b[31mred", "x\nFORGED message", "a" * 1_000_000):
        yield f"structure/parameter={label(name)}", Rule((FINE, DATA)), parameter(name)

    def cycle(model):
        mil.operations(model)[-1].inputs["x"].arguments[0].name = "ab"

    def dangling(model):
        mil.operations(model)[-1].inputs["x"].arguments[0].name = "no\x1b[31mwhere\nFORGED"

    def twice(model):
        mil.operations(model).append(mil.operations(model)[-1])

    def blocks(model):
        block = mil.operations(model)[-1].blocks.add()
        for _ in range(40):
            block = block.operations.add(type="cond").blocks.add()

    def deep(model):
        nested = b""
        for _ in range(5000):
            nested = b"\x1a" + _length(nested) + nested
            nested = b"\x22" + _length(nested) + nested
        return _with_block(model, nested)

    def functions(model):
        model.mlProgram.functions["other\x1b[31m\nFORGED"].CopyFrom(
            model.mlProgram.functions["main"])

    def outputs(model):
        operation = mil.operations(model)[-1]
        operation.outputs.extend([operation.outputs[0]] * 10_000)

    def opset(model):
        model.mlProgram.functions["main"].opset = "CoreML\x1b[31m\nFORGED"

    yield "structure/cycle", REFUSED, cycle
    yield "structure/dangling-name", REFUSED, dangling
    yield "structure/defined-twice", REFUSED, twice
    yield "structure/blocks-40", REFUSED, blocks
    yield "structure/blocks-5000", REFUSED, deep
    yield "structure/two-functions", REFUSED, functions
    yield "structure/opset", REFUSED, opset
    yield "structure/10000-outputs", REFUSED, outputs
    yield "structure/million-operations", REFUSED, lambda model: _raw_operations(
        model, 1_000_000)
    yield "structure/16-million-operations", REFUSED, lambda model: _raw_operations(
        model, 16_000_000)
    yield "structure/no-program", REFUSED, lambda model: model.ClearField("mlProgram")
    yield "structure/empty", REFUSED, lambda model: model.Clear()
    for number in INT64:
        def version(model, number=number):
            model.mlProgram.version = number
        yield f"structure/version={number}", REFUSED, version


def _length(content):
    size, result = len(content), b""
    while size > 127:
        result, size = result + bytes([size & 127 | 128]), size >> 7
    return result + bytes([size])


def _with_block(model, nested):
    """The model with an unparsed block in place of its program."""
    model.ClearField("mlProgram")
    tag = b"\xb2\x1f"
    return model.SerializeToString() + tag + _length(nested) + nested


def _chains():
    """Long programs: each operation is healthy."""
    def chain(count, kind="relu"):
        def write(folder):
            program = mil.Program()
            name = "input"
            for _ in range(count):
                name = program.add(kind, {"x": name}, [[1, 1, 8, 8]])
            program.finish(name).write(folder)
        return write

    def fan(count):
        def write(folder):
            program = mil.Program()
            name = program.add(
                "concat", {"values": ["input"] * count, "axis": mil.value(1)},
                [[1, count, 8, 8]])
            program.finish(name).write(folder)
        return write

    def doubling(count):
        def write(folder):
            program = mil.Program()
            name = "input"
            for _ in range(count):
                name = program.add(
                    "concat", {"values": [name, name], "axis": mil.value(1)}, [[None] * 4])
            program.finish(name).write(folder)
        return write

    for command in (SELF[:-1], INSPECT, PLACEMENT, COLORIZE):
        yield "chain/relu-30000", TOLERATED, command, chain(30_000)
    yield "chain/identity-50000", TOLERATED, SELF, chain(50_000, "identity")
    yield "chain/softmax-10000", TOLERATED, QUANTIZE, chain(10_000, "sigmoid")
    for count in (1000, 100_000):
        yield f"chain/fan-{count}", TOLERATED, SELF, fan(count)
    for count in (16, 24, 25, 40, 62, 70):
        yield f"chain/doubling-{count}", TOLERATED, SELF, doubling(count)


# MARK: Weights


def _weight_files(base):
    floats = struct.pack("<16f", *range(16))

    def program(offset, shape=(16, 1, 1, 1), data_type=mil.FLOAT32,
                name="@model_path/weights/weight.bin"):
        made = mil.Program()
        weight = made.constant(mil.blob(offset, data_type, list(shape), name))
        made.add("mul", {"x": weight, "y": weight}, [(data_type, list(shape))])
        return made.finish()

    def write(weights, **options):
        offset = options.pop("offset", 64)
        return lambda folder: program(offset, **options).write(folder, weights=weights)

    healthy = mil.weight_file((2, floats))
    yield "weights/healthy", ACCEPTED, SELF, write(healthy)
    for number in UINT64:
        yield f"weights/offset={number}", REFUSED, SELF, write(
            healthy, offset=number) if number else write(healthy, offset=0)
        yield f"weights/size={number}", REFUSED, SELF, write(
            mil.weight_file((2, floats, number)))
        yield f"weights/data-offset={number}", REFUSED, SELF, write(
            mil.weight_file((2, floats, 64, number)))
    for number in (0, 2, 2**31, 2**32 - 1):
        yield f"weights/count={number}", TOLERATED, INSPECT, write(
            mil.weight_file((2, floats), count=number))
        yield f"weights/version={number}", Rule((FINE, DATA)) if number == 2 else REFUSED, SELF, (
            write(mil.weight_file((2, floats), version=number)))
    for number in (0, 1, 3, 8, 18, 2**31, 2**32 - 1):
        yield f"weights/type={number}", REFUSED, SELF, write(mil.weight_file((number, floats)))
    for shape in ((2**40, 0), (0, 2**62), (2**32, 2**32), (2**31, 2**31, 2), (2**44, 1), (1,) * 17,
                  (2**63 - 1,), (2**20, 2**20)):
        for command in (SELF, INSPECT, WEIGHTS):
            yield f"weights/shape={label(str(shape))}", REFUSED, command, write(
                healthy, shape=shape)
    for name in ("", "weights/weight.bin", "@model_path/../../../base/model.h5",
                 "@model_path/weights/../../../../Manifest.json", "/etc/passwd",
                 "@model_path//dev/zero", "@model_path/weights", "@model_path/weights/x\nFORGED",
                 "@model_path/" + "a" * 100_000, "@model_path/weights/\x1b[31m.bin",
                 "@model_path/weights/x\x00y"):
        yield f"weights/file={label(name)}", REFUSED, SELF, write(healthy, name=name)

    def linked(target):
        def files(folder):
            program(64).write(folder)
            (folder / "model.mlpackage" / mil.WEIGHTS_PATH).symlink_to(target)
        return files

    for target in ("/dev/zero", "/dev/full", "nowhere", "weight.bin", "../../../../base/model.h5"):
        yield f"weights/link-to={label(target)}", REFUSED, SELF, linked(target)

    def pipe(folder):
        program(64).write(folder)
        os.mkfifo(folder / "model.mlpackage" / mil.WEIGHTS_PATH)

    def sparse(folder):
        program(64, shape=(2**33,)).write(folder, weights=mil.weight_file((2, floats, 2**35)))
        os.truncate(folder / "model.mlpackage" / mil.WEIGHTS_PATH, 2**36)

    yield "weights/pipe", REFUSED, SELF, pipe
    yield "weights/sparse-64-GiB", TOLERATED, SELF, sparse
    yield "weights/sparse-64-GiB-inspect", TOLERATED, INSPECT, sparse


# MARK: Compressed weights


def _packed(data_type, *shape):
    """A constant of zero bytes with as many as its shape needs, if that is few."""
    bits = {mil.INT4: 4, mil.UINT4: 4, mil.UINT32: 32}.get(data_type, 8)
    count = 1
    for size in shape:
        count *= size
    stored = (count * bits + 7) // 8 if 0 <= count < 2**20 else 4
    return mil.value(bytes(stored), list(shape), data_type)


def _shape_words(*sizes):
    return mil.value(b"".join((size % 2**32).to_bytes(4, "little") for size in sizes),
                     [len(sizes)], mil.UINT32)


def _compressed():
    """The parameters of constexpr operations, before and from iOS18 on."""
    def attributes(kind, given, shape=(4, 4, 1, 1)):
        def write(folder):
            program = mil.Program("iOS16")
            weight = program.add(kind, {}, [list(shape)], given)
            used = program.add("mul", {"x": weight, "y": weight}, [[None] * len(shape)])
            program.finish(used).write(folder)
        return write

    def inputs(kind, given, shape=(4, 4, 1, 1)):
        def write(folder):
            program = mil.Program("iOS18")
            weight = program.add(kind, given, [list(shape)])
            used = program.add("mul", {"x": weight, "y": weight}, [[None] * len(shape)])
            program.finish(used).write(folder)
        return write

    data = _packed(mil.INT8, 4, 4, 1, 1)
    for axis in (-5, -1, 4, 17, 2**31 - 1, -(2**31)):
        yield f"affine/axis={axis}", TOLERATED, attributes("constexpr_affine_dequantize", {
            "quantized_data": data, "zero_point": _packed(mil.INT8, 4),
            "scale": mil.value([1.0] * 4), "axis": mil.value(axis)})
    for count in (0, 1, 3, 17):
        yield f"affine/scales={count}", TOLERATED, attributes("constexpr_affine_dequantize", {
            "quantized_data": data, "zero_point": _packed(mil.INT8, count),
            "scale": mil.value([1.0] * count, [count], mil.FLOAT32), "axis": mil.value(0)})
    for scale in (0.0, float("nan"), float("inf"), 3e38, -3e38):
        yield f"affine/scale={scale}", TOLERATED, attributes("constexpr_affine_dequantize", {
            "quantized_data": data, "zero_point": _packed(mil.INT8), "scale": mil.value(scale),
            "axis": mil.value(0)})
    for name in ("quantized_data", "zero_point", "scale", "axis"):
        given = {"quantized_data": data, "zero_point": _packed(mil.INT8),
                 "scale": mil.value(1.0), "axis": mil.value(0)}
        yield f"affine/{name}-text", REFUSED, attributes(
            "constexpr_affine_dequantize", {**given, name: mil.value("x\x1b[31m\nFORGED")})
    for sizes in ((0,), (2**31,), (2**31, 2), (2**32 - 1, 2**32 - 1), (), (1,) * 17, (65536, 65536),
                  (2**15, 2**15)):
        for kind, given in [
            ("constexpr_lut_to_dense", {
                "indices": _packed(mil.UINT8, 8), "lut": mil.value([1.0] * 16)}),
            ("constexpr_sparse_to_dense", {
                "nonzero_data": mil.value([1.0]), "mask": _packed(mil.UINT8, 2)}),
        ]:
            yield f"{kind[10:13]}/shape={label(str(sizes))}", REFUSED, attributes(
                kind, {**given, "shape": _shape_words(*sizes)}, sizes)
    for count in (0, 1, 3, 5, 256, 257, 65536):
        yield f"lut/entries={count}", TOLERATED, attributes("constexpr_lut_to_dense", {
            "indices": _packed(mil.UINT8, 8), "lut": mil.value([1.0] * count, [count],
                                                               mil.FLOAT32),
            "shape": _shape_words(4, 4, 1, 1)})
    for shape in ((4, 1, 1, 1), (3, 1, 1, 1), (0, 1, 1, 1), (2**40, 0, 1, 1), (1, 1), (8, 8, 8, 8),
                  (), (1,) * 16):
        known = all(0 < size < 100 for size in shape)
        count = 1
        for size in shape:
            count *= size
        scale = mil.value([1.0] * (count if known else 0), list(shape), mil.FLOAT32)
        yield f"blockwise/scale={label(str(shape))}", TOLERATED, inputs(
            "constexpr_blockwise_shift_scale", {"data": data, "scale": scale})
        yield f"blockwise/offset={label(str(shape))}", TOLERATED, inputs(
            "constexpr_blockwise_shift_scale", {
                "data": data, "scale": mil.value([1.0] * 4, [4, 1, 1, 1]),
                "offset": _packed(mil.INT8, *shape)})
    for shape in ((1, 1, 1, 1, 16, 1), (1, 1, 1, 1, 2**31, 1), (4, 1, 1, 1, 16, 0), (1, 1, 1, 1, 0,
        1),
                  (3, 1, 1, 1, 16, 1), (1, 1, 1, 1, 16, 17), (1, 1, 1, 1, 15, 1), (16, 1),
                  (4, 4, 1, 1, 16, 1), (1,) * 16):
        count = 1
        for size in shape:
            count *= size
        table = mil.value([1.0] * (count if count < 10_000 else 0), list(shape), mil.FLOAT32)
        yield f"tables/lut={label(str(shape))}", TOLERATED, inputs("constexpr_lut_to_dense", {
            "indices": _packed(mil.UINT4, 4, 4, 1, 1), "lut": table})
        yield f"tables/axis={label(str(shape))}", TOLERATED, inputs("constexpr_lut_to_dense", {
            "indices": _packed(mil.UINT4, 4, 4, 1, 1), "lut": table,
            "vector_axis": mil.value(2**31 - 1)})
    for count in (0, 1, 17, 1000):
        yield f"sparse/values={count}", TOLERATED, inputs("constexpr_sparse_to_dense", {
            "nonzero_data": mil.value([1.0] * count, [count], mil.FLOAT32),
            "mask": mil.value(b"\xff\xff", [4, 4, 1, 1], 38)})
    for kind in ("constexpr_lut_to_sparse", "constexpr_sparse_blockwise_shift_scale",
                 "constexpr_cast", "constexpr_list_to_dense"):
        yield f"{kind}/nothing", REFUSED, inputs(kind, {})

    def self_reference(folder):
        program = mil.Program("iOS18")
        program.add("constexpr_blockwise_shift_scale", {"data": "value_1", "scale": "value_1"},
                    [[4, 4, 1, 1]])
        program.finish().write(folder)

    def long_chain(folder):
        program = mil.Program("iOS18")
        name = program.constant(mil.value([1.0] * 16, [4, 4, 1, 1]))
        for _ in range(3000):
            name = program.add("constexpr_blockwise_shift_scale", {
                "data": name, "scale": mil.value([1.0] * 16, [4, 4, 1, 1])}, [[4, 4, 1, 1]])
        program.finish().write(folder)

    yield "self-reference", REFUSED, self_reference
    yield "chain-3000", TOLERATED, long_chain


# MARK: Manifest


def _manifests(base):
    def text(content):
        def write(folder):
            shutil.copytree(base / "iOS15.mlpackage", folder / "model.mlpackage")
            (folder / "model.mlpackage/Manifest.json").write_bytes(
                content if isinstance(content, bytes) else content.encode("utf8", "surrogatepass"))
        return write

    def edited(edit):
        manifest = mil.manifest()
        edit(manifest)
        return text(json.dumps(manifest))

    for content in ("", "null", "[]", "{}", "1e400", '"x"', "[" * 100_000,
                    '{"a":' * 100_000, "\ufeff{}", b"\xff\xfe", "{" + '"a":1,' * 500_000 + '"b":1}',
                    '{"fileFormatVersion": 1e400}', '{"fileFormatVersion": "1.0.0", ' * 1000,
                    " " * 10_000_000, b"\x00" * 1000):
        yield f"manifest/{label(content)}", REFUSED, text(content)
    for version in ("", "2.0.0", "1.0", "-1.0.0", "1.0.0.0", "99999999999999999999.0.0", 1, None,
                    "1.0.0\x1b[31m\nFORGED", ["1.0.0"]):
        yield f"manifest/version={label(version)}", REFUSED, edited(
            lambda manifest, version=version: manifest.update(fileFormatVersion=version))
    for path in ("", "/", ".", "..", "../../base/model.h5", "/dev/zero", "a" * 5000, "x\x00y",
                 "com.apple.CoreML", "x\x1b[31m\nFORGED", 1, None, {},
                 "com.apple.CoreML//model.mlmodel",
                 "com.apple.CoreML/../com.apple.CoreML/model.mlmodel", "\ud800"):
        def change(manifest, path=path):
            manifest["itemInfoEntries"]["1"]["path"] = path
        rule = Rule((FINE, DATA)) if path and "//" in str(path) else REFUSED
        yield f"manifest/path={label(path)}", rule, edited(change)
    for root in ("", "3", None, 1, "x\nFORGED\x1b[31m", "2", []):
        yield f"manifest/root={label(root)}", REFUSED, edited(
            lambda manifest, root=root: manifest.update(rootModelIdentifier=root))

    def many(manifest):
        for index in range(20_000):
            manifest["itemInfoEntries"][f"x{index}"] = manifest["itemInfoEntries"]["2"]

    yield "manifest/20000-items", Rule((FINE, DATA)), edited(many)


def cases(base):
    """Packages of all of these kinds, in turn with the commands that read packages."""
    changes = [*_interface(base), *_types(base), *_structure(base)]
    made = [
        _case(name, rule,
              READERS[index % len(READERS)] if rule is TOLERATED else VERIFY,
              changed(base, change, "iOS16"))
        for index, (name, rule, change) in enumerate(changes)]
    made += [
        _case(f"{name}/inspected", TOLERATED, READERS[1 + index % (len(READERS) - 1)],
              changed(base, change, "iOS15"))
        for index, (name, rule, change) in enumerate(changes)
        if rule is REFUSED and "million" not in name and index % 2 == 0]
    made += [_case(*given) for given in (*_chains(), *_weight_files(base))]
    compressed = [SELF, QUANTIZE, WEIGHTS, INSPECT]
    made += [
        _case(f"compressed/{name}", rule if index % 4 == 0 else TOLERATED,
              compressed[index % 4], files)
        for index, (name, rule, files) in enumerate(_compressed())]
    made += [
        _case(name, rule, (VERIFY, INSPECT)[index % 2], files)
        for index, (name, rule, files) in enumerate(_manifests(base))]
    return named_once(made)
