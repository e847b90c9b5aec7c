"""Compares operations on 8 bits in retint and in other runtimes, one after another.

    Scripts/compare activations PACKAGE.mlpackage PHOTO... [--apple]

PACKAGE has quantized activations (`retint quantize --activations`) and takes lightness or a photo
of [1, 3, H, W]. It is written as ONNX and cut between its quantizers, so that each part takes and
returns integers. Both run every part on the same integers, those of a whole run in ONNX Runtime,
which uses its kernels for integers. The whole networks are compared as well: there, a number
between two integers that is rounded to the other one spreads through all later parts.

Prints, for each photo, how many of the integers differ, by how many steps at most, and how far the
outputs of the whole networks are from each other: retint's from ONNX Runtime's, and two of ONNX
Runtime's own, with and without kernels for integers. --apple also writes each part as .aimodel,
from the numbers of its integers to those of its result, and runs it in Apple's Core AI runtime. The
exit status is 1 if an integer of a part differs by more than one step.

Needs Scripts/setup --python, and --coreai for --apple.
"""

import concurrent.futures
import os
import pathlib
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx.utils import Extractor
from PIL import Image
from skimage.color import rgb2lab

import retint_options
from retint_tool import COREAI_PYTHON, ROOT

# As built, unless the environment names an installed one.
os.environ.setdefault("RETINT_LIBRARY", str(ROOT / ".build/release/libRetintC.so"))
sys.path.insert(0, str(ROOT / "Sources/Retint/Python"))

import retint  # noqa: E402


def session(model, optimizes=True):
    options = onnxruntime.SessionOptions()
    if not optimizes:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options)


class Parts:
    """The parts of a network between its quantizers."""

    def __init__(self, model):
        self.extractor = Extractor(onnx.shape_inference.infer_shapes(model))
        self.producers = {name: node for node in model.graph.node for name in node.output}
        self.tensors = {tensor.name: onnx.numpy_helper.to_array(tensor)
                        for tensor in model.graph.initializer}
        self.constants = set(self.tensors)
        self.inputs = {value.name for value in model.graph.input} - self.constants
        self.integers = [
            node.output[0] for node in model.graph.node
            if node.op_type == "QuantizeLinear" and node.input[0] not in self.constants]
        # The numbers that integers stand for.
        self.numbers = {
            node.input[0]: node for node in model.graph.node
            if node.op_type == "DequantizeLinear" and node.input[0] in self.integers}

    def sources(self, target):
        """The integers and inputs that a value is computed from."""
        found, seen, waiting = set(), set(), list(self.producers[target].input)
        while waiting:
            name = waiting.pop()
            if name in seen or not name:
                continue
            seen.add(name)
            if name in self.inputs or name in self.integers:
                found.add(name)
            elif name in self.producers:
                waiting += self.producers[name].input
        return sorted(found)

    def number(self, name):
        """The number that an integer stands for; an input as it is."""
        return self.numbers[name].output[0] if name in self.numbers else name

    def step(self, name):
        """The distance between two of those numbers."""
        return float(numpy.max(self.tensors[self.numbers[name].input[1]]))

    def model(self, sources, target, values):
        part = self.extractor.extract_model(sources, [target])
        # What the whole network's inputs are, the parts' are not.
        del part.metadata_props[:]
        for value in part.graph.input:
            array = values[value.name]
            value.type.CopyFrom(onnx.helper.make_tensor_type_proto(
                onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        return part


def whole(model, names, feed):
    """Values of a run."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    for name in names:
        if name not in {value.name for value in model.graph.output}:
            model.graph.output.append(onnx.ValueInfoProto(name=name))
    run = session(model.SerializeToString(), optimizes=False)
    names = [value.name for value in run.get_outputs()]
    return {**dict(zip(names, run.run(None, feed))), **feed}


def compare_parts(parts, values, folder):
    """The number of integers, of those that differ, and the largest difference in steps."""
    count, differing, largest = 0, 0, 0
    for target in parts.integers:
        path = folder / "part.onnx"
        feed = {name: values[name] for name in parts.sources(target)}
        onnx.save(parts.model(list(feed), target, values), path)
        expected = session(str(path)).run(None, feed)[0]
        model = retint.Model(path, form="file")
        found, = model.run(*[feed[name] for name in model.inputs]).values()
        steps = numpy.abs(numpy.asarray(found, numpy.int64) - expected.astype(numpy.int64))
        count, differing = count + steps.size, differing + int((steps > 0).sum())
        largest = max(largest, int(steps.max()))
    return count, differing, largest


def apple_steps(parts, values, folder, target):
    """The largest difference of a part in Apple's runtime from its integers, in steps."""
    sources = [parts.number(name) for name in parts.sources(target)]
    path, output = folder / f"{target}.aimodel", parts.number(target)
    onnx.save(parts.model(sources, output, values), path.with_suffix(".onnx"))
    retint.export(path.with_suffix(".onnx"), path, interface="original")
    with retint.load(path, form="file") as model:
        inputs, (result,) = model.inputs, model.outputs
    report = retint.verify(
        path, {result: values[output]}, {name: values[name] for name in sources}
        if set(sources) == set(inputs) else [values[name] for name in sources],
        judge="apple", judge_python=COREAI_PYTHON, atol=1e9)
    error, = (value["max_abs_error"] for value in report["outputs"].values())
    return round(error / parts.step(target), 3)


def photo_input(path, shape):
    channels, height, width = (int(size) for size in shape[1:])
    image = Image.open(path).convert("RGB").resize((width, height))
    pixels = numpy.asarray(image, numpy.float32) / 255
    if channels == 1:
        return rgb2lab(pixels)[None, None, ..., 0].astype(numpy.float32)
    return pixels.transpose(2, 0, 1)[None].copy()


def distance(one, other, span):
    gaps = numpy.abs(one.astype(numpy.float64) - other)
    return f"{gaps.mean() / span:.2e} mean, {gaps.max() / span:.2e} max"


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("photos", nargs="+", metavar="PHOTO")
    parser.add_argument(
        "--apple", action="store_true", help="run the parts in Apple's runtime, too")
    options = parser.parse_args()
    package, failed = options.package, False
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        file = folder / "whole.onnx"
        retint.export(package, file)
        model = onnx.load(file)
        parts = Parts(model)
        name, = parts.inputs
        shape = [size.dim_value for size in model.graph.input[0].type.tensor_type.shape.dim]
        fast, plain, own = session(str(file)), session(str(file), False), retint.Model(package)
        for photo in options.photos:
            feed = {name: photo_input(photo, shape)}
            values = whole(model, parts.integers + [
                parts.number(name) for name in parts.integers if options.apple], feed)
            count, differing, largest = compare_parts(parts, values, folder)
            outputs = [run.run(None, feed)[0] for run in (fast, plain)]
            found = numpy.asarray(next(iter(own.run(feed[name]).values())))
            span = numpy.abs(found).max()
            print(f"{pathlib.Path(photo).name}: {len(parts.integers)} parts, {count} integers, "
                  f"{differing} differ, by {largest} at most; whole, relative to {span:.3g}: "
                  f"retint and ONNX Runtime {distance(found, outputs[0], span)}; "
                  f"ONNX Runtime's own {distance(outputs[1], outputs[0], span)}", flush=True)
            failed |= largest > 1
            if options.apple:
                with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                    steps = list(pool.map(
                        lambda target: apple_steps(parts, values, folder, target),
                        parts.integers))
                differing = sum(step > 0.5 for step in steps)
                print(f"  in Apple's runtime {differing} of the parts differ, by {max(steps):.3f} "
                      "steps at most", flush=True)
                failed |= max(steps) > 1.01
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
