"""Runs a model by Apple's Core AI runtime, for retint.

    python run_aimodel.py VERSION                    checks that coreai-core is of this version
    python run_aimodel.py VERSION -- MODEL FOLDER    runs MODEL.aimodel

FOLDER/request.json lists the inputs of each run: {"runs": [[{"name": "x", "file": "0-0.npy"}]]}.
FOLDER/result.json describes the model, and lists the outputs of each run in the same way.
A failure is one line on standard error; the exit status is 3 without that version, else 1.
"""

import asyncio
import importlib.metadata
import json
import pathlib
import re
import sys

INSTALL = "pip install coreai-core=={}"
# Operations that unpack weights from fewer bits.
COMPRESSED = re.compile(
    r"lut_to_dense|blockwise_shift_scale|sparse_with_bitmask_to_dense|dequantize")
# Operations that compute nothing.
UNCOMPUTED = re.compile(COMPRESSED.pattern + r"|constant$|cast$")
FLOAT = re.compile(r"\b(?:[\d?]+x)*(b?f16|f32)>$")


class Failure(Exception):
    """What keeps a model from running, in words."""

    status = 1


class Unavailable(Failure):
    """There is no runtime of the right version."""

    status = 3


def check(wanted):
    """Fails unless this Python has that version of the runtime."""
    try:
        found = importlib.metadata.version("coreai-core")
    except importlib.metadata.PackageNotFoundError:
        raise Unavailable(
            f"{sys.executable} has no coreai-core; {INSTALL.format(wanted)}") from None
    if found != wanted:
        raise Unavailable(
            f"{sys.executable} has coreai-core {found}, but retint works with {wanted}; "
            + INSTALL.format(wanted))


def matched(files, names):
    """The file of each of the model's inputs: by name, or by order if there is one."""
    if len(files) == 1 and len(names) == 1:
        return {names[0]: files[0]["file"]}
    named = {one["name"]: one["file"] for one in files}
    if set(named) != set(names):
        raise Failure(
            f"takes {', '.join(names)}, but the reference has {', '.join(named)}; write a "
            "reference with the inputs of the model")
    return named


def described(function):
    """The name, the shape and the element type of each input."""
    inputs = []
    for name in function.desc.input_names:
        described = function.desc.input_descriptor(name)
        inputs.append({"name": name, "shape": list(described.shape), "type": str(described.dtype)})
    return inputs


def operations(parent):
    """The operations within one, at any depth."""
    for region in parent.regions:
        for block in region:
            for child in block:
                yield child.operation
                yield from operations(child.operation)


def declared(asset):
    """The lowest precision of the weights, and the arithmetic, as retint states them itself."""
    held, computed, compressed = set(), set(), False
    for operation in operations(asset.program._module._mlir_module.operation):
        compressed = compressed or bool(COMPRESSED.search(operation.name))
        for result in operation.results:
            if found := FLOAT.search(str(result.type)):
                held.add(found[1])
                if not UNCOMPUTED.search(operation.name):
                    computed.add(found[1])
    half = held - {"f32"}
    compute = "float32" if computed <= {"f32"} else "mixed" if "f32" in computed else "float16"
    return {"precision": "quantized" if compressed else "float16" if half else "float32",
            "compute": compute}


async def run(asset, folder, runs):
    import numpy
    from coreai.runtime import NDArray

    async with asset.executable() as model:
        if len(model.function_names) != 1:
            raise Failure(f"has {len(model.function_names)} functions; one is run")
        function = model.load_function(model.function_names[0])
        inputs = described(function)
        types = {one["name"]: one["type"] for one in inputs}
        results = []
        for index, files in enumerate(runs):
            named = matched(files, list(types))
            values = {
                name: NDArray(numpy.load(folder / named[name]).astype(types[name], copy=False))
                for name in types}
            outputs = await function(values)
            results.append([
                saved(folder, f"{index}-{number}-output.npy", name, value.numpy())
                for number, (name, value) in enumerate(outputs.items())])
        return {"inputs": inputs, "runs": results}


def saved(folder, file, name, value):
    import numpy

    # The value may be a view of memory that the runtime uses again, and of a type that NumPy's
    # format does not have.
    own = {"float16", "float32", "float64"}
    numpy.save(folder / file, value.astype(value.dtype if value.dtype.name in own else "float32"))
    return {"name": name, "file": file}


def main():
    check(sys.argv[1])
    if len(sys.argv) == 2:
        return
    # Before anything else of coreai: its modules need each other in this order.
    from coreai.authoring import AIModelAsset

    model, folder = map(pathlib.Path, sys.argv[3:])
    asset = AIModelAsset.load(model)
    request = json.loads((folder / "request.json").read_text())
    result = asyncio.run(run(asset, folder, request["runs"]))
    result |= declared(asset)
    (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # Whatever it is, retint tells it.
        lines = [line.strip() for line in str(error).splitlines()]
        text = "; ".join([line for line in lines if line][:3]) or type(error).__name__
        print(text, file=sys.stderr)
        sys.exit(getattr(error, "status", 1))
