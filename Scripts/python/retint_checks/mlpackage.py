"""Checks Core ML packages with coremltools, and by rules that coremltools does not check.

    Scripts/check mlpackage PATH...

Prints a line for each package, after a line for each rule that it violates. The exit status is 1
when a package fails. Packages are not changed.
"""

import contextlib
import io
import json
import logging
import math
import pathlib
import re
import shutil
import struct
import sys
import tempfile
import warnings

import numpy as np

import retint_options

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)
# The frameworks that coremltools converts from are not needed, and take long to load.
for name in ("torch", "sklearn", "tensorflow", "xgboost"):
    sys.modules[name] = None
with contextlib.redirect_stderr(io.StringIO()):
    import coremltools as ct
    from coremltools.converters.mil.frontend.milproto import load as milproto
    from coremltools.converters.mil.mil import types as mil_types
    from coremltools.libmilstoragepython import _BlobStorageReader
    from coremltools.libmodelpackage import ModelPackage
    from coremltools.proto import MIL_pb2, Model_pb2

OPSETS = {6: "CoreML5", 7: "CoreML6", 8: "CoreML7", 9: "CoreML8", 10: "CoreML9"}
ARRAY_TYPES = {
    65568: "FLOAT32",
    65552: "FLOAT16",
    131104: "INT32",
    131080: "INT8",
    65600: "FLOAT64",
}
WIDTHS = {
    "FLOAT16": 16,
    "FLOAT32": 32,
    "INT8": 8,
    "UINT8": 8,
    "INT16": 16,
    "UINT16": 16,
    "INT32": 32,
    "UINT32": 32,
    "INT4": 4,
    "UINT4": 4,
    "UINT1": 1,
    "UINT2": 2,
    "UINT3": 3,
    "UINT6": 6,
}
# A type's number in the weight file, and its name in coremltools' reader.
BLOBS = {
    "FLOAT16": (1, "fp16"),
    "FLOAT32": (2, "float"),
    "UINT8": (3, "uint8"),
    "INT8": (4, "int8"),
    "INT16": (6, "int16"),
    "UINT16": (7, "uint16"),
    "INT4": (8, "int4"),
    "UINT1": (9, "uint1"),
    "UINT2": (10, "uint2"),
    "UINT4": (11, "uint4"),
    "UINT3": (12, "uint3"),
    "UINT6": (13, "uint6"),
    "INT32": (14, "int32"),
    "UINT32": (15, "uint32"),
}
MEMBERS = {
    "BOOL": "bools",
    "STRING": "strings",
    "FLOAT32": "floats",
    "FLOAT64": "doubles",
    "INT16": "ints",
    "UINT16": "ints",
    "INT32": "ints",
    "INT64": "longInts",
    "UINT64": "longInts",
}
KEYWORDS = set(
    "any bool program func tensor list dict tuple true false string state bf16 fp16 fp32 fp64 "
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
)
# Core ML's operations take no 64-bit parameters.
REFUSED = {"INT64", "UINT64", "FLOAT64"}


class Violation(Exception):
    """A violation that makes the following checks meaningless."""


def is_name(text):
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_@]*", text) is not None and text not in KEYWORDS


def tensor_type(value_type):
    """The element type's name, and the shape with None for unknown sizes."""
    if value_type.WhichOneof("type") != "tensorType":
        raise Violation("a type that is not a tensor")
    tensor = value_type.tensorType
    if tensor.rank != len(tensor.dimensions):
        raise Violation(f"rank {tensor.rank} with {len(tensor.dimensions)} dimensions")
    known = (
        d.constant.size if d.WhichOneof("dimension") == "constant" else None
        for d in tensor.dimensions
    )
    return MIL_pb2.DataType.Name(tensor.dataType), tuple(known)


class Package:
    """A package; each check appends descriptions of its violations to `faults`."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.faults = []
        self.references = []

    def rule(self, holds, violation):
        if not holds:
            self.faults.append(violation)
        return bool(holds)

    def check(self):
        try:
            self.check_manifest()
            self.check_model()
            self.check_program()
            self.check_weights()
            if not self.faults:  # coremltools can crash on damaged files
                self.check_with_coremltools()
        except Violation as fault:
            self.faults.append(str(fault))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
            self.faults.append(f"{type(error).__name__}: {error}")

    def check_manifest(self):
        manifest = json.loads((self.path / "Manifest.json").read_text("utf-8"))
        self.rule(
            manifest["fileFormatVersion"] == "1.0.0",
            "Manifest.json: the format version is not 1.0.0",
        )
        items = manifest["itemInfoEntries"]
        for key, item in items.items():
            for field in ("author", "description", "name", "path"):
                if not isinstance(item.get(field), str):
                    raise Violation(f"Manifest.json: item {key} has no {field}")
            parts = item["path"].split("/")
            if not all(parts) or ".." in parts or "." in parts:
                raise Violation(f"Manifest.json: the path {item['path']!r} leaves the package")
            self.rule(
                (self.path / "Data" / item["path"]).exists(), f"Data/{item['path']} does not exist"
            )
        self.listed = [item["path"] for item in items.values()]
        self.model_path = self.path / "Data" / items[manifest["rootModelIdentifier"]]["path"]
        links = [p for p in self.path.rglob("*") if p.is_symlink()]
        self.rule(not links, f"it has symbolic links: {[str(p) for p in links]}")

    def check_model(self):
        self.model = Model_pb2.Model()
        try:
            self.model.ParseFromString(self.model_path.read_bytes())
        except Exception as error:
            raise Violation(f"the model file does not parse: {error}") from None
        if self.model.WhichOneof("Type") != "mlProgram":
            raise Violation(f"the model is {self.model.WhichOneof('Type')}, not an ML Program")
        known = Model_pb2.Model()
        known.CopyFrom(self.model)
        known.DiscardUnknownFields()
        self.rule(
            known.ByteSize() == self.model.ByteSize(),
            "the model file has fields that are not in the format",
        )

    def check_program(self):
        program = self.model.mlProgram
        self.rule(program.version == 1, f"the program's version is {program.version}")
        description = self.model.description
        described = {f.name: f for f in description.functions} or {"main": description}
        names = sorted(program.functions)
        if sorted(described) != names:
            raise Violation(f"the functions {names} are described as {sorted(described)}")
        if description.functions:
            self.rule(
                description.defaultFunctionName in described, "the default function is none of it"
            )
            self.rule(self.model.specificationVersion >= 9, "several functions need iOS18")
        self.types_of = {}
        for name in names:
            self.check_function(program.functions[name])
            self.check_interface(described[name])
            self.types_of[name] = self.types

    def check_function(self, function):
        self.main = function
        opset = OPSETS.get(self.model.specificationVersion)
        self.rule(
            self.main.opset == opset,
            f"version {self.model.specificationVersion} with operation set {self.main.opset}",
        )
        if self.main.opset not in self.main.block_specializations:
            raise Violation(f"there is no body for {self.main.opset}")
        self.block = self.main.block_specializations[self.main.opset]
        self.types = {}
        for value in self.main.inputs:
            self.define(value, "program input")
        for index, operation in enumerate(self.block.operations):
            self.check_operation(operation, f"operation {index} ({operation.type})")
        for name in self.block.outputs:
            self.rule(name in self.types, f"the output {name!r} is not defined")

    def define(self, value, place):
        self.rule(value.name not in self.types, f"{place}: {value.name!r} is defined twice")
        self.rule(is_name(value.name), f"{place}: {value.name!r} is not a legal name")
        self.types[value.name] = tensor_type(value.type)

    def check_operation(self, operation, place):
        for parameter, argument in operation.inputs.items():
            self.rule(argument.arguments, f"{place}: {parameter} has no value")
            for binding in argument.arguments:
                if binding.WhichOneof("binding") == "value":
                    self.check_value(binding.value, f"{place}.{parameter}")
                elif self.rule(
                    binding.name in self.types,
                    f"{place}: {binding.name!r} is used before its definition",
                ):
                    kind = self.types[binding.name][0]
                    self.rule(kind not in REFUSED, f"{place}: {parameter} is {kind}")
        self.rule("name" in operation.attributes, f"{place}: it has no name")
        for name, value in operation.attributes.items():
            self.check_value(value, f"{place}, attribute {name}")
        for value in operation.outputs:
            self.define(value, place)
        self.check_attributes(operation, place)

    def check_attributes(self, operation, place):
        others = set(operation.attributes) - {"name"}
        if operation.type == "const":
            if self.rule(
                others == {"val"} and len(operation.outputs) == 1,
                f"{place}: it is not a single value",
            ):
                declared = tensor_type(operation.attributes["val"].type)
                self.rule(
                    self.types[operation.outputs[0].name] == declared,
                    f"{place}: type of the output and the value",
                )
            self.rule(not operation.inputs, f"{place}: it has parameters")
        elif not operation.type.startswith("constexpr_"):
            self.rule(not others, f"{place}: attributes {sorted(others)}")

    def check_value(self, value, place):
        kind, shape = tensor_type(value.type)
        if None in shape:
            raise Violation(f"{place}: a constant of unknown size")
        count = math.prod(shape)
        if value.WhichOneof("value") == "blobFileValue":
            self.references.append((value.blobFileValue, kind, count, place))
            return
        tensor = value.immediateValue.tensor
        member = tensor.WhichOneof("value")
        if not self.rule(
            member == MEMBERS.get(kind, "bytes"), f"{place}: elements of {kind} are in {member}"
        ):
            return
        have = len(getattr(tensor, member).values)
        need = (count * WIDTHS[kind] + 7) // 8 if member == "bytes" else count
        self.rule(have == need, f"{place}: {have} elements or bytes instead of {need}")

    def check_interface(self, description):
        inputs, outputs = [v.name for v in self.main.inputs], list(self.block.outputs)
        for role, features, names in (
            ("input", description.input, inputs),
            ("output", description.output, outputs),
        ):
            declared = [feature.name for feature in features]
            self.rule(
                sorted(declared) == sorted(names) and names,
                f"{role}s {declared}, but the program's are {names}",
            )
            for feature in features:
                if feature.name in self.types:
                    self.check_feature(feature, self.types[feature.name], role)
        self.rule(not set(inputs) & set(outputs), "an input is an output as well")

    def check_feature(self, feature, own, role):
        place = f"{role} {feature.name!r}"
        if feature.type.WhichOneof("Type") == "imageType":
            image = feature.type.imageType
            flexible = image.WhichOneof("SizeFlexibility")
            shape = (1, 3 if image.colorSpace in (20, 30) else 1, image.height, image.width)
            kind = "FLOAT16" if image.colorSpace == 40 else "FLOAT32"
        else:
            array = feature.type.multiArrayType
            flexible = array.WhichOneof("ShapeFlexibility")
            kind, shape = ARRAY_TYPES.get(array.dataType), tuple(array.shape)
        self.rule(kind == own[0], f"{place}: the interface has {kind}, the program {own[0]}")
        self.rule(
            kind != "FLOAT16" or self.model.specificationVersion >= 7,
            f"{place}: FLOAT16 needs iOS16",
        )
        self.rule(
            kind != "INT8" or self.model.specificationVersion >= 10,
            f"{place}: INT8 needs iOS26",
        )
        may_differ = flexible or None in own[1] or (role == "output" and not shape)
        self.rule(
            may_differ or shape == own[1],
            f"{place}: the interface has {shape}, the program {own[1]}",
        )

    def check_weights(self):
        files = {}
        for reference, kind, count, place in self.references:
            name = reference.fileName
            if not self.rule(
                re.fullmatch(r"@model_path/weights/[^/]+", name), f"{place}: weight file {name!r}"
            ):
                continue
            if name not in files:
                files[name] = self.open_weights(name)
            self.check_record(files[name], reference.offset, kind, count, place)
        for name, (data, _, used) in files.items():
            self.check_header(name, data, used)

    def open_weights(self, name):
        path = self.model_path.parent / name.removeprefix("@model_path/")
        inside = path.relative_to(self.path / "Data").as_posix()
        self.rule(
            any(inside == p or inside.startswith(p + "/") for p in self.listed),
            f"no item covers {inside}",
        )
        data = path.read_bytes()
        if len(data) < 64 or struct.unpack_from("<I", data, 4)[0] != 2:
            raise Violation(f"{name}: it has no header of version 2")
        return data, _BlobStorageReader(str(path)), set()

    def check_record(self, file, offset, kind, count, place):
        data, reader, used = file
        if offset < 64 or offset % 64 or offset + 64 > len(data):
            raise Violation(f"{place}: no record can start at {offset}")
        mark, number, size, start, padding = struct.unpack_from("<IIQQQ", data, offset)
        if mark != 0xDEADBEEF or kind not in BLOBS or number != BLOBS[kind][0]:
            raise Violation(f"{place}: no record of {kind} starts at {offset}")
        if start != offset + 64 or start + size > len(data):
            raise Violation(
                f"{place}: the record at {offset} points to {start}..{start + size} of {len(data)}"
            )
        packed = padding if WIDTHS[kind] < 8 else 0
        if size * 8 - packed != count * WIDTHS[kind]:
            raise Violation(f"{place}: {size} bytes for {count} elements of {kind}")
        used.add(offset)
        elements = np.asarray(getattr(reader, f"read_{BLOBS[kind][1]}_data")(offset))
        self.rule(
            elements.size == count,
            f"{place}: coremltools reads {elements.size} elements, not {count}",
        )
        if kind.startswith("FLOAT"):
            values = elements.view(np.float16) if kind == "FLOAT16" else elements
            self.rule(np.isfinite(values).all(), f"{place}: NaN or infinity in the weights")

    def check_header(self, name, data, used):
        """Counts the records and compares the count with the header's."""
        position, found = 64, set()
        while position + 64 <= len(data):
            mark, _, size, start, _ = struct.unpack_from("<IIQQQ", data, position)
            if not self.rule(
                mark == 0xDEADBEEF and start == position + 64, f"{name}: no record at {position}"
            ):
                break
            found.add(position)
            position = -(-(start + size) // 64) * 64
        count = struct.unpack_from("<I", data)[0]
        self.rule(
            count == len(found),
            f"{name}: the header counts {count} records, there are {len(found)}",
        )
        self.rule(
            used <= found,
            f"{name}: references to {sorted(used - found)} are not the start of a record",
        )

    def check_with_coremltools(self):
        """Opens a copy of the manifest with a link to the data, because opening rewrites it."""
        with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stderr(io.StringIO()):
            copy = pathlib.Path(scratch) / "copy.mlpackage"
            copy.mkdir()
            shutil.copyfile(self.path / "Manifest.json", copy / "Manifest.json")
            (copy / "Data").symlink_to((self.path / "Data").resolve())
            self.rule(ModelPackage.isValid(str(copy)), "coremltools' package library refuses it")
            try:
                opened = ct.models.MLModel(str(copy), skip_model_load=True)
                weights = str(self.model_path.parent / "weights")
                program = milproto.load(opened.get_spec(), self.model.specificationVersion, weights)
                program.validate()
            except Exception as error:
                raise Violation(
                    f"coremltools refuses it: {(str(error) or repr(error)).splitlines()[0]}"
                ) from None
        for name, function in program.functions.items():
            self.types = self.types_of[name]
            for operation in function.operations:
                self.check_inference(operation)

    def check_inference(self, operation):
        """Compares inferred types with the declared ones, and sizes that inference ignores."""
        for output in operation.outputs:
            self.compare_type(operation, output)
        source = operation.inputs.get("x")
        if source is None or not hasattr(source, "shape"):
            return
        place = f"{operation.op_type} {operation.name!r}"
        axes = operation.inputs.get("axis") or operation.inputs.get("axes")
        if axes is not None and axes.val is not None and operation.op_type != "expand_dims":
            for axis in np.atleast_1d(axes.val):
                self.rule(
                    -source.rank <= axis < source.rank,
                    f"{place}: axis {axis} of rank {source.rank}",
                )
        if operation.op_type in ("batch_norm", "instance_norm"):
            for key in ("mean", "variance", "gamma", "beta"):
                vector = operation.inputs.get(key)
                self.rule(
                    vector is None or tuple(vector.shape) == (source.shape[1],),
                    f"{place}: length of {key}",
                )

    def compare_type(self, operation, output):
        symbolic = output.sym_type
        is_tensor = mil_types.is_tensor(symbolic)
        element = symbolic.get_primitive() if is_tensor else symbolic
        shape = symbolic.get_shape() if is_tensor else ()
        number = mil_types.BUILTIN_TO_PROTO_TYPES.get(element)
        declared = self.types.get(output.name)
        if declared is None or number is None:
            return
        pairs = [
            (a, b)
            for a, b in zip(declared[1], shape)
            if a is not None and isinstance(b, (int, np.integer))
        ]
        same = MIL_pb2.DataType.Name(number) == declared[0] and len(shape) == len(declared[1])
        self.rule(
            same and all(a == b for a, b in pairs),
            f"{operation.op_type} {output.name!r}: declared as {declared}",
        )


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("paths", nargs="+", metavar="PATH")
    failed = 0
    for path in parser.parse_args().paths:
        package = Package(path)
        package.check()
        for fault in package.faults[:20]:
            print(f"{path}: {fault}")
        print(f"{'FAILED' if package.faults else 'passed'} {path}")
        failed += bool(package.faults)
    return 1 if failed else 0

