#!/usr/bin/env python3
"""Writes compiled models (.mlmodelc) as Apple's compiler lays them out, and what PyTorch computes.

    python record_compiled.py    # writes compiled-*.mlmodelc and compiled.json here

There is no compiler for Linux: the packages are coremltools', the text of their programs is
written here in the two spellings that compilers use, before iOS18 and since. The folders lack
`coremldata.bin`, which is not read.
"""

import base64
import json
import pathlib
import shutil
import tempfile

import coremltools as ct
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
torch.manual_seed(6)
TYPES = {1: "bool", 2: "string", 10: "fp16", 11: "fp32", 21: "int8", 23: "int32", 31: "uint8",
         32: "uint16", 33: "uint32"}


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, 2, 1)
        self.second = nn.ConvTranspose2d(8, 4, 4, 2, 1)

    def forward(self, x):
        low, high = F.gelu(self.first(x)).chunk(2, 1)
        y = self.second(torch.cat([low, F.softmax(high, 1)], 1))
        return y + 0.25, F.interpolate(y[:, :, ::2], scale_factor=2.0)


def text(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class Printer:
    def __init__(self, program, opset, weights):
        self.program, self.opset, self.weights = program, opset, weights
        self.bare = opset == "ios18"

    def type(self, proto):
        tensor = proto.tensorType
        name = TYPES[tensor.dataType]
        if self.bare and not tensor.dimensions:
            return name
        sizes = ["?" if d.HasField("unknown") else str(d.constant.size)
                 for d in tensor.dimensions]
        return f"tensor<{name}, [{', '.join(sizes)}]>"

    def scalar(self, name, content):
        return f"{name}({content})" if self.bare else f"tensor<{name}, []>({content})"

    def value(self, proto):
        kind = self.type(proto.type)
        if proto.HasField("blobFileValue"):
            blob = proto.blobFileValue
            return (f"{kind}(BLOBFILE(path = {self.scalar('string', text(blob.fileName))}, "
                    f"offset = {self.scalar('uint64', blob.offset)}))")
        tensor = proto.immediateValue.tensor
        field = tensor.WhichOneof("value")
        values = getattr(tensor, field).values
        if field == "bytes":
            width = {10: np.float16, 21: np.int8, 31: np.uint8, 32: np.uint16, 33: np.uint32}
            values = np.frombuffer(values, width[proto.type.tensorType.dataType]).tolist()
        words = [self.word(v) for v in values]
        shape = [d.constant.size for d in proto.type.tensorType.dimensions]
        if not shape:
            return f"{kind}({words[0]})"
        return f"{kind}({self.nested(words, shape)})"

    def nested(self, words, shape):
        if len(shape) == 1:
            return "[" + ", ".join(words) + "]"
        step = len(words) // shape[0]
        return "[" + ", ".join(
            self.nested(words[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"

    def word(self, value):
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return text(value)
        return value.hex().replace(".0000000000000p", "p") if isinstance(value, float) \
            else str(value)

    def argument(self, argument):
        parts = [b.name if b.WhichOneof("binding") == "name" else self.value(b.value)
                 for b in argument.arguments]
        return parts[0] if len(parts) == 1 else "(" + ", ".join(parts) + ")"

    def operation(self, op):
        outputs = ", ".join(f"{self.type(o.type)} {o.name}" for o in op.outputs)
        inputs = ", ".join(f"{k} = {self.argument(v)}" for k, v in sorted(op.inputs.items()))
        attributes = ", ".join(f"{k} = {self.value(v)}"
                               for k, v in sorted(op.attributes.items()))
        return f"            {outputs} = {op.type}({inputs})[{attributes}];\n"

    def print(self):
        function = self.program.functions["main"]
        block = function.block_specializations[function.opset]
        inputs = ", ".join(f"{self.type(i.type)} {i.name}" for i in function.inputs)
        version, word = ("1.3", "string") if self.bare else ("1.0", "tensor<string, []>")
        info = (f'[buildInfo = dict<{word}, {word}>({{{{"coremlc-component-MIL", "3304.5.2"}}, '
                f'{{"coremlc-version", "3304.6.2"}}}})]')
        flexible = ""
        if "?" in inputs:
            flexible = (" [FlexibleShapeInformation = tuple<tuple<tensor<string, []>, dict<"
                        "tensor<string, []>, tensor<int32, [?]>>>>(((\"DefaultShapes\", "
                        "{{\"x\", [1, 3, 8, 12]}})))]")
        body = "".join(self.operation(op) for op in block.operations)
        return (f"program({version})\n{info}\n{{\n    func main<{self.opset}>({inputs})"
                f"{flexible} {{\n{body}        }} -> ({', '.join(block.outputs)});\n}}")


def schema(feature):
    kind = feature.type.WhichOneof("Type")
    entry = {"isOptional": "0", "shortDescription": feature.shortDescription,
             "name": feature.name}
    if kind == "imageType":
        image = feature.type.imageType
        space = {20: "RGB", 30: "BGR", 10: "Grayscale"}[image.colorSpace]
        return entry | {"type": "Image", "width": str(image.width), "height": str(image.height),
                        "colorspace": space, "isColor": "1", "hasSizeFlexibility": "0"}
    array = feature.type.multiArrayType
    entry |= {"type": "MultiArray", "dataType": "Float32", "shape": str(list(array.shape))}
    if array.HasField("shapeRange"):
        entry["hasShapeFlexibility"] = "1"
        entry["shapeRange"] = str([[r.lowerBound, r.upperBound]
                                   for r in array.shapeRange.sizeRanges])
    return entry


def tensors(values):
    return {
        key: {"shape": list(value.shape),
              "values": base64.b64encode(np.float32(value).tobytes()).decode()}
        for key, value in values.items()}


def record(name, opset, x, expected, network, **options):
    target = {"ios16": ct.target.iOS16, "ios18": ct.target.iOS18}[opset]
    model = ct.convert(torch.jit.trace(network, x), convert_to="mlprogram",
                       minimum_deployment_target=target, skip_model_load=True,
                       outputs=[ct.TensorType("first"), ct.TensorType("second")], **options)
    model.short_description, model.author = "Say \"hi\"", "Who"
    folder = HERE / f"{name}.mlmodelc"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "weights").mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        package = pathlib.Path(scratch) / "a.mlpackage"
        model.save(str(package))
        shutil.copy(package / "Data/com.apple.CoreML/weights/weight.bin",
                    folder / "weights/weight.bin")
    spec = model.get_spec()
    (folder / "model.mil").write_text(Printer(spec.mlProgram, opset, folder).print())
    metadata = [{
        "metadataOutputVersion": "3.0", "shortDescription": spec.description.metadata
        .shortDescription, "author": spec.description.metadata.author,
        "specificationVersion": spec.specificationVersion,
        "inputSchema": [schema(f) for f in spec.description.input],
        "outputSchema": [schema(f) for f in spec.description.output],
        "userDefinedMetadata": dict(spec.description.metadata.userDefined),
    }]
    (folder / "metadata.json").write_text(json.dumps(metadata, indent=2) + "\n")
    input = spec.description.input[0].name
    return {"inputs": tensors({input: x.numpy()}),
            "outputs": tensors(dict(zip(("first", "second"), [e.detach() for e in expected])))}


if __name__ == "__main__":
    network = Network().eval()
    x = torch.rand(1, 3, 8, 12)
    pixels = torch.randint(0, 256, (1, 3, 8, 12)).float()
    single = dict(compute_precision=ct.precision.FLOAT32)
    recorded = {
        "compiled-ios16": record(
            "compiled-ios16", "ios16", x, network(x), network,
            inputs=[ct.TensorType("x", x.shape)], **single),
        "compiled-ios18": record(
            "compiled-ios18", "ios18", pixels, network(pixels / 255), network,
            inputs=[ct.ImageType("photo", pixels.shape, scale=1 / 255,
                                 color_layout=ct.colorlayout.BGR)], **single),
    }
    wide = torch.rand(1, 3, 16, 20)
    shape = ct.Shape((1, 3, ct.RangeDim(8, 32, default=8), ct.RangeDim(8, 32, default=12)))
    recorded["compiled-range"] = record(
        "compiled-range", "ios16", wide, network(wide), network,
        inputs=[ct.TensorType("x", shape)], **single)
    (HERE / "compiled.json").write_text(json.dumps(recorded, separators=(",", ":")) + "\n")
