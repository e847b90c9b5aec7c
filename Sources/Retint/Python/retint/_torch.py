"""Torch modules as ONNX files, which retint reads."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import pathlib
import typing
import warnings

from retint import _errors, _references


def written(module: typing.Any, inputs: object, folder: pathlib.Path, *,
            varies: bool = False) -> str:
    """Writes a module as for inference to an ONNX file in a folder, and returns its path.

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
    parts = [part for part in module.modules() if part.training]
    # A program of torch.export is in the mode that it was exported in.
    with contextlib.suppress(NotImplementedError):
        module.eval()
    try:
        with torch.no_grad(), _quiet():
            outputs = _output_names(module(*arguments))
            torch.onnx.export(
                module, arguments, file, input_names=names, output_names=outputs,
                **_exporter(arguments, names, varies, is_scripted(module)))
    except _errors.RetintError:
        raise
    except Exception as error:
        raise _not_written(module, error) from error
    finally:
        for part in parts:
            part.training = True
    return file


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


def _output_names(results: object) -> list[str] | None:
    """Names by the keys of a mapping or by order, as of a reference's outputs; None where values
    are nested."""
    import torch

    if isinstance(results, typing.Mapping):
        values, names = list(results.values()), [str(key) for key in results]
    else:
        values = list(results) if isinstance(results, (list, tuple)) else [results]
        names = [f"output_{index}" if index else "output" for index in range(len(values))]
    return names if all(isinstance(value, torch.Tensor) for value in values) else None


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
