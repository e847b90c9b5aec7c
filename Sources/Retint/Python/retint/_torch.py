"""Torch modules as ONNX files, which retint reads."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import pathlib
import typing
import warnings

from retint import _errors, _models, _references

#: Torch's exporters keep a module's results but for rounding, which is far smaller.
_MIN_SNR_DB = 40


class Written(typing.NamedTuple):
    """A module's ONNX file, the inputs that it was traced with, and what the module returns for
    these; None where its results are nested."""
    file: str
    names: list[str] | None
    inputs: tuple[typing.Any, ...]
    outputs: list[typing.Any] | None


def written(module: typing.Any, inputs: object, folder: pathlib.Path, *,
            varies: bool = False) -> Written:
    """Writes a module as for inference to an ONNX file in a folder.

    :param varies: whether heights and widths of images stay open.
    :param inputs: a tensor or array, several in the order of `forward`, or a mapping of the names
        of its parameters.
    """
    import torch

    if inputs is None:
        raise _errors.UsageError(
            f"pass inputs for the torch module {type(module).__name__}, such as "
            "inputs=torch.rand(1, 3, 256, 256): it is traced with them", status=64)
    file = str(folder / "module.onnx")
    module = _references.in_float32(module)
    arguments, names = _arguments(module, inputs)
    # A module may change its inputs in place.
    given = tuple(value.detach().clone() for value in arguments)
    parts = [part for part in module.modules() if part.training]
    # A program of torch.export is in the mode that it was exported in.
    with contextlib.suppress(NotImplementedError):
        module.eval()
    try:
        with torch.no_grad(), _quiet():
            results = _results(module(*arguments))
            outputs = None if results is None else [value.clone() for value in results.values()]
            torch.onnx.export(
                module, arguments, file, input_names=names,
                output_names=None if results is None else list(results),
                **_exporter(arguments, names, varies, is_scripted(module)))
    except _errors.RetintError:
        raise
    except Exception as error:
        raise _not_written(module, error) from error
    finally:
        for part in parts:
            part.training = True
    return Written(file, names, given, outputs)


def differences(module: Written) -> list[str]:
    """What the ONNX file computes otherwise than the module, a text for each output: torch's
    exporters write some operations, such as antialiased bicubic resizing, as others."""
    import torch

    if module.outputs is None:
        return []
    try:
        with _models.load(module.file, form="file") as model:
            named = dict(zip(module.names or model.inputs, module.inputs))
            found = model.run({name: value.cpu() for name, value in named.items()
                               if name in model.inputs})
    except _errors.RetintError as error:
        return [f"the result of torch.onnx.export was not compared with the module: {error}"]
    texts = []
    for (name, value), expected in zip(found.items(), module.outputs):
        wanted = expected.to("cpu", torch.float64)
        ratio = _snr(torch.as_tensor(value).to(torch.float64), wanted)
        if ratio < _MIN_SNR_DB:
            texts.append(
                f"torch.onnx.export wrote something else than the module computes: output {name} "
                f"has an SNR of {ratio:.1f} dB against it; write the module with other operations, "
                "or try torch.jit.trace(module, inputs), for which torch has another exporter")
    return texts


def _snr(value: typing.Any, expected: typing.Any) -> float:
    """The signal-to-noise ratio in dB; infinite values and NaN count where only one has them."""
    import math

    if value.shape != expected.shape:
        return -math.inf
    finite = expected.isfinite()
    if not bool((finite == value.isfinite()).all()):
        return -math.inf
    noise = float((value - expected)[finite].square().sum())
    signal = float(expected[finite].square().sum())
    if noise == 0:
        return math.inf
    return 10 * math.log10(signal / noise) if signal > 0 else -math.inf


def _not_written(module: typing.Any, error: BaseException) -> _errors.UsageError:
    """The error of a module that torch does not export. Its exporters wrap the cause in advice on
    how to report it."""
    # Without a cause, it is an error of the module itself.
    remedy = "" if error.__cause__ is None else (
        "pass torch.jit.trace(module, inputs), for which torch has another exporter, or change the "
        "module there")
    while error.__cause__ is not None:
        error = error.__cause__
    reason = f"{type(error).__name__}: {(str(error).strip() or 'without a reason').splitlines()[0]}"
    message = f"torch.onnx.export cannot write the module {type(module).__name__}: {reason}"
    return _errors.UsageError(
        f"{message}; {remedy}" if remedy else message, status=64, remedy=remedy)


@contextlib.contextmanager
def _quiet() -> typing.Iterator[None]:
    """Without the warnings of exporters about themselves, and of traced branches on sizes."""
    disabled = logging.root.manager.disable
    logging.disable(max(disabled, logging.WARNING))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def _arguments(module: typing.Any,
               inputs: object) -> tuple[tuple[typing.Any, ...], list[str] | None]:
    """The arguments of a call, and their names where these are known."""
    import inspect

    if is_scripted(module):
        parameters = [value.name for value in module.forward.schema.arguments[1:]]
    else:
        parameters = [name for name, parameter in
                      inspect.signature(module.forward).parameters.items()
                      if parameter.kind is not inspect.Parameter.VAR_POSITIONAL
                      and parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    if isinstance(inputs, typing.Mapping):
        unknown = [name for name in inputs if name not in parameters]
        if unknown:
            raise _errors.UsageError(
                f"the module takes {', '.join(parameters)}, not {', '.join(unknown)}", status=64)
        names = [name for name in parameters if name in inputs]
        if names != parameters[:len(names)]:
            raise _errors.UsageError(
                f"inputs leave out {parameters[len(names) - 1]}, which comes before others",
                status=64)
        values = [inputs[name] for name in names]
    else:
        values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        names = parameters[:len(values)]
    parameter = next(module.parameters(), None)
    tensors = tuple(_references.tensor(value, parameter) for value in values)
    return tensors, names if len(names) == len(tensors) else None


def _results(results: object) -> dict[str, typing.Any] | None:
    """Results by the keys of a mapping or by order, as of a reference's outputs; None where values
    are nested."""
    import torch

    if isinstance(results, typing.Mapping):
        named = {str(key): value for key, value in results.items()}
    else:
        values = list(results) if isinstance(results, (list, tuple)) else [results]
        named = {f"output_{index}" if index else "output": value
                 for index, value in enumerate(values)}
    return named if all(isinstance(value, torch.Tensor) for value in named.values()) else None


def is_scripted(module: object) -> bool:
    """Whether a module was traced or scripted."""
    import torch

    return isinstance(module, torch.jit.ScriptModule)


def _exporter(arguments: tuple[typing.Any, ...], names: list[str] | None,
              varies: bool, scripted: bool) -> dict[str, typing.Any]:
    """Torch's present exporter where the package is there that it needs, else the one before, which
    also takes modules that were traced or scripted."""
    import torch

    images = [varies and value.dim() == 4 for value in arguments]
    if scripted or importlib.util.find_spec("onnxscript") is None:
        return {"dynamo": False, "dynamic_axes": {
            name: {2: f"{name}_height", 3: f"{name}_width"}
            for name, is_image in zip(names or [], images) if is_image}}
    result: dict[str, typing.Any] = {"dynamo": True, "verbose": False, "external_data": False}
    if any(images):
        open_sides = {2: torch.export.Dim.AUTO, 3: torch.export.Dim.AUTO}
        result["dynamic_shapes"] = tuple(open_sides if image else None for image in images)
    return result
