"""Verification, and what is found by it."""

from __future__ import annotations

import json
import os
import pathlib
import typing
import warnings

from retint import (
    _arrays, _errors, _images, _library, _models, _options, _ranges, _references, _reports)

# The exit code.
TOLERANCE_EXCEEDED = 2


def verify(package: _options.Path, reference: object, inputs: object = None, *,
           reference_inputs: object = None, html: _options.Path | None = None,
           messages: _library.Messages | None = None, **options: object) -> _reports.Report:
    """Compares a model with a reference, as ``retint verify`` does.

    :param package: the model: a checkpoint, a package, an `.aimodel` or an ONNX file.
    :param reference: a torch module (hooks give its layers by their names), a session of ONNX
        Runtime, any function of arrays, a mapping of outputs to arrays, or a path: of another
        model, or of a reference file.
    :param inputs: an array, several in the model's order, or a mapping of names to arrays, as the
        package takes them. Without them, inputs are random, by ``seed`` and ``size``.
    :param reference_inputs: the same for a reference that takes other ones, such as a module whose
        preprocessing the package contains.
    :param range: what a reference takes where the package takes an image of pixels: ``"0..1"``,
        ``"-1..1"`` or ``"imagenet"``; an option of the command, too.
    :param output_range: the range of the reference's results where the package returns an image,
        whose pixels are 0 to 255: ``"0..1"``; an option of the command, too.
    :param options: those of the command, with underscores: ``min_psnr=60``, ``layer_min_snr=30``,
        ``compute="float16"``; with a reference that is a file, also ``photos="photos"``.
    :returns: the report, whether or not it passed.
    """
    path = _options.path(package, "package")
    is_file = isinstance(reference, (str, os.PathLike))
    # Random inputs of a reference that is run here are drawn here, and converted.
    drawn = {} if is_file else {
        key: options.pop(key, None) for key in ("seed", "size", "range", "output_range")}
    arguments = [path, *_options.arguments(options), "--json"]
    if html is not None:
        arguments += ["--html", _options.path(html, "html")]
    with _options.scratch() as folder:
        if is_file:
            if reference_inputs is not None:
                raise _errors.UsageError(
                    "reference_inputs are for a reference that is run here, not for a file",
                    status=64)
            arguments += _of_file(path, typing.cast(_options.Path, reference), inputs,
                                  pathlib.Path(folder))
        else:
            arguments += _of_object(path, reference, inputs, reference_inputs, options, drawn,
                                    pathlib.Path(folder))
        with _errors.naming(f"{folder}/reference.h5", "reference"), \
                _errors.naming(f"{folder}/inputs.h5", "inputs"):
            text = _library.command(
                "verify", *arguments, messages=messages, allowed=(0, TOLERANCE_EXCEEDED))
    values = json.loads(text)
    if not is_file:
        # Not the file of this call, which is gone.
        values["reference"] = _title(reference)
    return _reports.Report(values)


def _title(reference: object) -> str:
    """How a report names a reference: `Net`, `function pipeline`."""
    if isinstance(reference, typing.Mapping):
        return "arrays"
    name = getattr(reference, "__qualname__", None)
    return f"function {name}" if name else type(reference).__name__


def _of_file(path: str, reference: _options.Path, inputs: object,
             folder: pathlib.Path) -> list[str]:
    """The command's arguments for a reference that is a file or another model."""
    other = _options.path(reference, "reference")
    is_recorded = other.rstrip("/").endswith(".aimodelintermediates") \
        or other.endswith(".h5") and _is_recorded(other)
    result = ["--reference" if is_recorded else "--against", other]
    if inputs is not None:
        file = folder / "inputs.h5"
        with _models.load(path, form="verify") as model:
            _arrays.write(str(file), _flat(_given(model, inputs), ""))
        result += ["--inputs", str(file)]
    return result


def _of_object(path: str, reference: object, inputs: object, reference_inputs: object,
               options: typing.Mapping[str, object], drawn: typing.Mapping[str, object],
               folder: pathlib.Path) -> list[str]:
    """The command's arguments for a reference that is run here, or for its results."""
    if inputs is None and isinstance(reference, typing.Mapping):
        raise _errors.UsageError("pass the inputs that the expected arrays are for", status=64)
    with _models.load(path, form="verify") as model:
        outputs = model.outputs
        takes_lightness = any(
            value["role"] == "lightness" for value in model.interface["inputs"])
        scalings = _ranges.scalings(
            model.interface, _metadata(path) if takes_lightness else {})
        values = _given(model, inputs) if inputs is not None else {
            name: _ranges.unscaled(value, scalings.get(name))
            for name, value in _noise(model, options, drawn).items()}
        _check_pixels(model, values)
        images = {value["name"]: value["color_layout"] for value in model.interface["inputs"]
                  if value.get("color_layout")}
    seen = values
    span = drawn.get("range")
    if span is not None:
        if reference_inputs is not None or not images:
            raise _errors.UsageError(
                "range converts the pixels of an image for the reference; "
                + ("leave it out beside reference_inputs" if images else "the model takes none"),
                status=64)
        seen = {name: _ranges.converted(value, images[name], span) if name in images else value
                for name, value in values.items()}
    elif inputs is None and images and reference_inputs is None:
        raise _errors.UsageError(
            f"input {next(iter(images))} is an image with pixels of 0 to 255; say in which range "
            'the reference takes them, such as range="0..1" or range="imagenet", or pass inputs '
            "and reference_inputs", status=64)
    if isinstance(reference_inputs, typing.Mapping):
        seen = dict(reference_inputs)
    elif reference_inputs is not None:
        # As many as the reference takes, which may differ from the package's.
        given = reference_inputs if isinstance(reference_inputs, (list, tuple)) \
            else [reference_inputs]
        seen = {f"{index}": value for index, value in enumerate(given)}
    found = _references.recorded(reference, seen, outputs)
    if drawn.get("output_range") is not None:
        for value in model.interface["outputs"]:
            if value.get("color_layout") and value["name"] in found.outputs:
                found.outputs[value["name"]] = _ranges.pixels(
                    found.outputs[value["name"]], drawn["output_range"])
    file = folder / "reference.h5"
    # A recorded reference of a colorizer has lightness, a and b themselves.
    taken, returned = (
        {name: _ranges.scaled(value, scalings.get(name)) for name, value in group.items()}
        for group in (values, found.outputs))
    tensors = {**_flat(taken, "inputs/"), **_flat(returned, "outputs/"),
               **_flat(found.layers, "activations/"),
               **{f"modules/{name}": value for name, value in found.classes.items()}}
    _arrays.write(str(file), tensors)
    return ["--reference", str(file)]


def _metadata(path: str) -> dict[str, str]:
    """Those of an ONNX file, which alone say in which range it takes lightness."""
    if not path.endswith(".onnx"):
        return {}
    found = json.loads(_library.command("inspect", path, "--json")).get("metadata")
    return typing.cast("dict[str, str]", found or {})


def _check_pixels(model: _models.Model, values: typing.Mapping[str, typing.Any]) -> None:
    """Refuses the values of a network for the pixels of an image, which would be nearly black."""
    for value in model.interface["inputs"]:
        array = values.get(value["name"])
        if value.get("color_layout") == "bgr":
            warnings.warn(
                f"input {value['name']} is an image with blue first (BGR), and the reference gets "
                "the channels in the same order", stacklevel=4)
        if array is None or not value.get("color_layout") or not hasattr(array, "max"):
            continue
        largest = float(array.max())
        if 0 < largest <= 1:
            raise _errors.UsageError(
                f"input {value['name']} is an image with pixels of 0 to 255, and the largest given "
                f"value is {largest:g}; pass the pixels as inputs, and what the reference takes as "
                "reference_inputs", status=64)


def _flat(values: typing.Mapping[str, object], group: str) -> dict[str, object]:
    """Values by their places in a file, where a slash begins a group; ONNX's names have some."""
    return {group + name.replace("/", "_"): value for name, value in values.items()}


def _is_recorded(path: str) -> bool:
    """Whether an HDF5 file is a reference, not a checkpoint."""
    return bool(json.loads(_library.command("inspect", path, "--json"))["kind"] != "checkpoint")


def _given(model: _models.Model, inputs: object) -> dict[str, object]:
    given = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    return _images.values(_models.bound(model.inputs, given, {}), model.interface)


def _noise(model: _models.Model, options: typing.Mapping[str, object],
           drawn: typing.Mapping[str, object]) -> dict[str, object]:
    """Random inputs from the model's interface, of the default distributions of `retint verify`.

    :param drawn: the seed, and the side of images.
    """
    if set(options) & {"photo", "photos", "inputs", "noise"}:
        raise _errors.UsageError(
            "photos, inputs and noise choose the inputs of a reference that is a file or a model; "
            "pass arrays as inputs for one that is run here", status=64)
    import numpy

    generator = numpy.random.default_rng(typing.cast(int, drawn.get("seed") or 0))
    values: dict[str, object] = {}
    for value in model.interface["inputs"]:
        shape, kind = _shape(value, drawn.get("size")), value.get("element_type") or "float32"
        result: typing.Any
        if value.get("color_layout"):
            result = generator.integers(0, 256, shape)
        elif value["role"] == "lightness":
            result = _natural(generator, shape, 100)
        elif value["role"] in ("gray_rgb", "rgb"):
            result = _natural(generator, shape, 1)
        elif kind.startswith(("int", "uint", "bool")):
            # As the reference takes them: indices, or true and false.
            types = {"bool": "bool", "int64": "int64", "uint8": "uint8"}
            result = generator.integers(0, 2, shape).astype(types.get(kind, "int32"))
        else:
            result = generator.normal(0, 1, shape)
        is_float = result.dtype.kind == "f" or bool(value.get("color_layout"))
        values[value["name"]] = result.astype(numpy.float32) if is_float else result
    return values


def _natural(generator: typing.Any, shape: list[int], largest: float) -> typing.Any:
    """Gray images from 0 to `largest` with the spectrum of photos: noise on grids of 1, 2, 4, …
    pixels, of the same variance and interpolated linearly."""
    import numpy

    count, channels, height, width = shape
    images = numpy.full((count, 1, height, width), 0.5)
    step = 1
    while True:
        rows, columns = (numpy.arange(side) / step for side in (height, width))
        grid = generator.standard_normal((count, 1, height // step + 2, width // step + 2))
        for axis, places in ((2, rows), (3, columns)):
            first = places.astype(int)
            share = (places - first).reshape((-1, 1) if axis == 2 else (-1,))
            low, high = (grid.take(first + offset, axis) for offset in (0, 1))
            grid = low + share * (high - low)
        images += 0.09 * grid
        step *= 2
        if step >= max(height, width):
            return largest * numpy.repeat(images.clip(0, 1), channels, axis=1)


def _shape(value: dict[str, typing.Any], side: object) -> list[int]:
    standard = value["shapes"].get("standard")
    if standard is None:
        raise _errors.UsageError(
            f"input {value['name']} has no shape of its own; pass inputs", status=64)
    shape: list[int] = list(standard)
    if isinstance(side, int) and len(shape) == 4:
        shape[2:] = [side, side]
    return shape
