"""Verification, and what is found by it."""

from __future__ import annotations

import json
import os
import pathlib
import typing

from retint import _arrays, _errors, _library, _models, _options, _references, _reports

_TOLERANCE_EXCEEDED = 2


def verify(package: _options.Path, reference: object, inputs: object = None, *,
           reference_inputs: object = None, html: _options.Path | None = None,
           messages: _library.Messages | None = None, **options: object) -> _reports.Report:
    """Compares a model with a reference, as ``retint verify`` does.

    :param package: the model: a checkpoint, a package, an `.aimodel` or an ONNX file.
    :param reference: a torch module (hooks give its layers by their names), a session of ONNX
        Runtime, any function of arrays, a mapping of outputs to arrays, or a path: of another
        model, or of a reference file.
    :param inputs: an array, several in the model's order, or a mapping of names to arrays. Without
        them, inputs are random: as ``--noise`` and ``--seed`` say.
    :param reference_inputs: the same for a reference that takes other ones, such as a module whose
        preprocessing the package contains.
    :param options: those of the command, with underscores: ``min_psnr=60``, ``layer_min_snr=30``,
        ``photos="photos"``, ``compute="float16"``.
    :returns: the report, whether or not it passed.
    """
    path = _options.path(package, "package")
    arguments = [path, *_options.arguments(options), "--json"]
    if html is not None:
        arguments += ["--html", _options.path(html, "html")]
    with _options.scratch() as folder:
        arguments += _reference(path, reference, inputs, reference_inputs, options,
                                pathlib.Path(folder))
        text = _library.command(
            "verify", *arguments, messages=messages, allowed=(0, _TOLERANCE_EXCEEDED))
    return _reports.Report(json.loads(text))


def _reference(path: str, reference: object, inputs: object, reference_inputs: object,
               options: typing.Mapping[str, object], folder: pathlib.Path) -> list[str]:
    """The command's arguments for a reference."""
    if isinstance(reference, (str, os.PathLike)):
        other = _options.path(reference, "reference")
        is_recorded = other.rstrip("/").endswith((".aimodelintermediates",)) \
            or other.endswith(".h5") and _is_recorded(other)
        result = ["--reference" if is_recorded else "--against", other]
        if inputs is not None:
            file = folder / "inputs.h5"
            with _models.load(path, form="file") as model:
                _arrays.write(str(file), _named(model.inputs, inputs))
            result += ["--inputs", str(file)]
        return result
    with _models.load(path, form="file") as model:
        names, outputs = model.inputs, model.outputs
        values = _named(names, inputs) if inputs is not None else _noise(model, options)
    if reference_inputs is None:
        seen = values
    else:
        seen = _named(names, reference_inputs)
    found = _references.recorded(reference, seen, outputs)
    file = folder / "reference.h5"
    tensors = {f"inputs/{name}": value for name, value in values.items()}
    tensors.update({f"outputs/{name}": value for name, value in found.outputs.items()})
    tensors.update({f"activations/{name}": value for name, value in found.layers.items()})
    _arrays.write(str(file), tensors)
    return ["--reference", str(file)]


def _is_recorded(path: str) -> bool:
    """Whether an HDF5 file is a reference, not a checkpoint."""
    try:
        _library.command("inspect", path, "--json")
    except _errors.RetintError:
        return True
    return False


def _named(names: list[str], inputs: object) -> dict[str, object]:
    if isinstance(inputs, (list, tuple)):
        return _models.bound(names, tuple(inputs), {})
    return _models.bound(names, (inputs,), {})


def _noise(model: _models.Model, options: typing.Mapping[str, object]) -> dict[str, object]:
    """Random inputs from the model's interface, of the distributions of `retint verify --noise`."""
    if set(options) & {"photo", "photos", "inputs", "noise"}:
        raise _errors.UsageError(
            "photos, inputs and noise choose the inputs of a reference that is a file or a model; "
            "pass arrays as inputs for one that is run here", status=64)
    import numpy

    seed = options.get("seed", 0)
    generator = numpy.random.default_rng(seed if isinstance(seed, int) else 0)
    values: dict[str, object] = {}
    for value in model.interface["inputs"]:
        shape = _shape(value)
        drawn: typing.Any
        if value.get("color_layout"):
            drawn = generator.integers(0, 256, shape)
        elif value["role"] == "lightness":
            drawn = generator.uniform(0, 100, shape)
        elif value["role"] in ("gray_rgb", "rgb"):
            drawn = generator.uniform(0, 1, shape)
        elif (value.get("element_type") or "float32").startswith(("int", "uint", "bool")):
            drawn = generator.integers(0, 2, shape)
        else:
            drawn = generator.normal(0, 1, shape)
        values[value["name"]] = drawn.astype(numpy.float32)
    return values


def _shape(value: dict[str, typing.Any]) -> list[int]:
    standard = value["shapes"].get("standard")
    if standard is None:
        raise _errors.UsageError(
            f"input {value['name']} has no shape of its own; pass inputs", status=64)
    shape: list[int] = standard
    return shape
