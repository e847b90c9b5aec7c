"""Writes Core ML packages from small descriptions of programs, whatever they state."""

import importlib.util
import json
import struct
import sys
import types


def _protocol():
    """coremltools' generated messages, without the rest of coremltools, which takes seconds."""
    if "coremltools" not in sys.modules:
        package = types.ModuleType("coremltools")
        place = importlib.util.find_spec("coremltools").submodule_search_locations
        package.__path__ = list(place)
        sys.modules["coremltools"] = package
    from coremltools.proto import MIL_pb2, Model_pb2
    return Model_pb2, MIL_pb2


Model, MIL = _protocol()

MODEL_PATH = "Data/com.apple.CoreML/model.mlmodel"
WEIGHTS_PATH = "Data/com.apple.CoreML/weights/weight.bin"
FLOAT32, FLOAT16, INT32, BOOL, STRING = 11, 10, 23, 1, 2
INT8, UINT8, INT4, UINT4, UINT32 = 21, 31, 25, 35, 33
# The specification version and the operation set of each target.
TARGETS = {"iOS15": (6, "CoreML5"), "iOS16": (7, "CoreML6"), "iOS17": (8, "CoreML7"),
           "iOS18": (9, "CoreML8")}


def tensor_type(data_type, shape):
    """A type; None and "?" stand for a dimension of any size."""
    result = MIL.ValueType()
    result.tensorType.dataType = data_type
    result.tensorType.rank = len(shape)
    for size in shape:
        dimension = result.tensorType.dimensions.add()
        if size in (None, "?"):
            dimension.unknown.variadic = False
        else:
            dimension.constant.size = size
    return result


def value(content, shape=None, data_type=None):
    """A constant: a string, booleans, whole numbers, floats or bytes; a list is a vector."""
    items = content if isinstance(content, (list, bytes)) else [content]
    if shape is None:
        shape = [len(items)] if isinstance(content, list) else []
    first = content if isinstance(content, bytes) else (items[0] if items else 0)
    members = [(bool, "bools", BOOL), (str, "strings", STRING), (bytes, "bytes", UINT8),
               (int, "ints", INT32), (float, "floats", FLOAT32)]
    member, own = next((member, own) for kind, member, own in members if isinstance(first, kind))
    result = MIL.Value()
    result.type.CopyFrom(tensor_type(data_type or own, shape))
    tensor = result.immediateValue.tensor
    if member == "bytes":
        tensor.bytes.values = content
    else:
        getattr(tensor, member).SetInParent()
        getattr(tensor, member).values.extend(items)
    return result


def blob(offset, data_type, shape, name="@model_path/weights/weight.bin"):
    """A constant in a weight file."""
    result = MIL.Value()
    result.type.CopyFrom(tensor_type(data_type, shape))
    result.blobFileValue.fileName = name
    result.blobFileValue.offset = offset
    return result


class Program:
    """A program under construction, whose input is lightness and whose output is ab."""

    def __init__(self, target="iOS16", side=8):
        version, opset = TARGETS[target]
        self.model = Model.Model(specificationVersion=version)
        self.model.mlProgram.version = 1
        self.function = self.model.mlProgram.functions["main"]
        self.function.opset = opset
        self.block = self.function.block_specializations[opset]
        self.count = 0
        named = self.function.inputs.add(name="input")
        named.type.CopyFrom(tensor_type(FLOAT32, [1, 1, side, side]))
        self.feature(self.model.description.input.add(), "input", [1, 1, side, side])
        self.feature(self.model.description.output.add(), "ab", [1, 2, side, side])
        self.block.outputs.append("ab")
        self.side = side

    @staticmethod
    def feature(feature, name, shape):
        feature.name = name
        feature.type.multiArrayType.dataType = 65568
        feature.type.multiArrayType.shape.extend(shape)

    def name(self):
        self.count += 1
        return f"value_{self.count}"

    def add(self, kind, inputs, outputs, attributes=None):
        """Adds an operation; inputs are names, constants or lists of both, outputs are shapes."""
        operation = self.block.operations.add(type=kind)
        for parameter, given in inputs.items():
            argument = operation.inputs[parameter]
            for one in given if isinstance(given, list) else [given]:
                if isinstance(one, str):
                    argument.arguments.add().name = one
                else:
                    argument.arguments.add().value.CopyFrom(one)
        for name, given in (attributes or {}).items():
            operation.attributes[name].CopyFrom(given)
        names = []
        for shape in outputs:
            names.append(self.name())
            data_type, shape = shape if isinstance(shape, tuple) else (FLOAT32, shape)
            operation.outputs.add(name=names[-1]).type.CopyFrom(tensor_type(data_type, shape))
        operation.attributes["name"].CopyFrom(value(names[0] if names else "none"))
        return names[0] if names else ""

    def constant(self, given):
        """A const operation."""
        data_type = given.type.tensorType
        shape = [
            size.constant.size if size.HasField("constant") else None
            for size in data_type.dimensions]
        return self.add("const", {}, [(data_type.dataType, shape)], {"val": given})

    def finish(self, result=None):
        """Adds the mean of a value, so that it is computed, to two copies of the input."""
        shape = [1, 2, self.side, self.side]
        pair = self.add("concat", {"values": ["input", "input"], "axis": value(1)}, [shape])
        mean = value(0.0)
        if result:
            mean = self.add("reduce_mean", {"x": result, "keep_dims": value(False)}, [[]])
        self.add("add", {"x": pair, "y": mean}, [shape])
        self.block.operations[-1].outputs[0].name = "ab"
        return self

    def write(self, folder, name="model.mlpackage", weights=None):
        write(folder / name, self.model, weights)


def manifest(model="com.apple.CoreML/model.mlmodel"):
    """The healthy manifest, as a dictionary."""
    def item(name, path):
        return {"author": "com.apple.CoreML", "description": "", "name": name, "path": path}

    return {
        "fileFormatVersion": "1.0.0",
        "itemInfoEntries": {
            "1": item("model.mlmodel", model), "2": item("weights", "com.apple.CoreML/weights")},
        "rootModelIdentifier": "1",
    }


def write(package, model, weights=None, manifest_text=None):
    """Writes a package of a message or of its bytes."""
    (package / "Data/com.apple.CoreML/weights").mkdir(parents=True)
    text = json.dumps(manifest()) if manifest_text is None else manifest_text
    (package / "Manifest.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    content = model if isinstance(model, bytes) else model.SerializeToString(deterministic=True)
    (package / MODEL_PATH).write_bytes(content)
    if weights is not None:
        (package / WEIGHTS_PATH).write_bytes(weights)


def weight_file(*records, count=None, version=2):
    """A weight file of (type, bytes) or (type, bytes, stated size, stated offset)."""
    result = bytearray(struct.pack("<II56x", len(records) if count is None else count, version))
    for kind, content, *stated in records:
        result += bytes(-len(result) % 64)
        size = stated[0] if stated else len(content)
        offset = stated[1] if len(stated) > 1 else len(result) + 64
        result += struct.pack("<IIQQQ32x", 0xDEADBEEF, kind, size, offset, 0) + content
    return bytes(result)


def read(package):
    """The model of a package."""
    model = Model.Model()
    model.ParseFromString((package / MODEL_PATH).read_bytes())
    return model


def operations(model):
    """The operations of the only function's only body."""
    return next(iter(model.mlProgram.functions["main"].block_specializations.values())).operations
