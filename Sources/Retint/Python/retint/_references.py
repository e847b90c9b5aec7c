"""What a model is verified against: a module, a session, a function, arrays or a file."""

from __future__ import annotations

import contextlib
import typing

from retint import _errors


class Recorded(typing.NamedTuple):
    """The outputs of a reference, those of its layers by their paths, and for each of these a
    number by its class and path: `Conv2d/stem.conv`."""
    outputs: dict[str, object]
    layers: dict[str, object]
    classes: dict[str, object]


def recorded(reference: object, inputs: typing.Mapping[str, object],
             outputs: list[str]) -> Recorded:
    """Runs a reference on copies of the inputs, which it may change in place.

    :param outputs: the names of the model's outputs, in its order.
    """
    if isinstance(reference, typing.Mapping):
        if not set(outputs) & set(reference):
            raise _errors.UsageError(
                f"reference holds {_list(list(reference))}, and the model returns "
                f"{_list(outputs)}; pass arrays by the names of the outputs, or the module itself "
                "instead of its weights", status=64)
        return Recorded(dict(reference), {}, {})
    inputs = {name: _copied(value) for name, value in inputs.items()}
    reference = module_of(reference)
    refuse_class(reference, "reference")
    if is_module(reference):
        return _of_module(reference, inputs, outputs)
    if hasattr(reference, "get_inputs") and hasattr(reference, "run"):
        return Recorded(_of_session(reference, inputs, outputs), {}, {})
    if callable(reference):
        return Recorded(_by_name(_called(reference, inputs), outputs), {}, {})
    raise TypeError(
        f"reference is {type(reference).__name__}; pass a file, a torch module, a session of ONNX "
        "Runtime, a function or arrays by name")


def _list(names: typing.Sequence[object]) -> str:
    """The first names, and whether there are more: `stem.weight, stem.bias, …`"""
    return ", ".join([str(name) for name in names[:3]] + ["…"] * (len(names) > 3)) or "nothing"


def refuse_class(value: object, what: str) -> None:
    """Raises an error for a class instead of an object of it."""
    if isinstance(value, type):
        raise TypeError(
            f"{what} is the class {value.__name__}; pass an object of it, with its weights")


def is_module(reference: object) -> bool:
    """Whether a value is a torch module; torch is not imported for the answer."""
    return hasattr(reference, "named_modules") and hasattr(reference, "register_forward_hook")


def module_of(value: object) -> object:
    """The module of a program of torch.export; another value as it is."""
    if type(value).__name__ == "ExportedProgram":
        return typing.cast(typing.Any, value).module()
    return value


def example_of(value: object) -> object:
    """The inputs that a program of torch.export was made with; None of another value."""
    if type(value).__name__ != "ExportedProgram":
        return None
    positional, named = typing.cast(typing.Any, value).example_inputs
    return None if named else list(positional)


def in_float32(module: typing.Any) -> typing.Any:
    """A module whose weights are in half precision, as one of float32 with the same values: its
    arithmetic would add errors of its own. Another module is returned as it is."""
    import copy

    import torch

    types = {parameter.dtype for parameter in module.parameters()}
    if not types & {torch.float16, torch.bfloat16}:
        return module
    return copy.deepcopy(module).float()


def _of_module(module: typing.Any, inputs: typing.Mapping[str, object],
               outputs: list[str]) -> Recorded:
    """Runs a torch module as for inference, with a hook on each of its modules."""
    import torch

    layers: dict[str, object] = {}
    last: list[object] = [None]

    def keep(name: str) -> typing.Callable[..., None]:
        def hook(_module: object, _inputs: object, result: object) -> None:
            # Attention and recurrent layers return their values first, then weights or states.
            if isinstance(result, (list, tuple)) and result:
                result = result[0]
            # A container returns what its last module does, whose name says more.
            if result is last[0] or name in layers or not isinstance(result, torch.Tensor) \
                    or not result.is_floating_point() or not result.numel():
                return
            last[0] = result
            # A copy: modules may change it in place later on.
            layers[name] = result.detach().to("cpu", torch.float32, copy=True)
        return hook

    module = in_float32(module)
    parameter = next(module.parameters(), None)
    tensors = {name: tensor(value, parameter) for name, value in inputs.items()}
    was_training = [part for part in module.modules() if part.training]
    hooks: list[typing.Any] = []
    try:
        if not isinstance(module, torch.jit.ScriptModule):
            # Scripted and traced modules call no hooks: they have outputs alone.
            for name, part in module.named_modules():
                if name:
                    hooks.append(part.register_forward_hook(keep(name)))
        # A program of torch.export is in the mode that it was exported in.
        with contextlib.suppress(NotImplementedError):
            module.eval()
        with torch.no_grad():
            # Those of torch.export take their arguments as they were exported, by order here.
            results = module(*tensors.values()) if isinstance(module, torch.fx.GraphModule) \
                else _called(module, tensors, module.forward)
    finally:
        for hook in hooks:
            hook.remove()
        for part in was_training:
            part.training = True
    parts = dict(module.named_modules()) if layers else {}
    classes: dict[str, object] = {
        f"{type(parts[name]).__name__}/{name}": torch.zeros(1) for name in layers}
    return Recorded(_by_name(results, outputs), layers, classes)


def _copied(value: typing.Any) -> typing.Any:
    """A copy of an array, of the same library."""
    if hasattr(value, "detach") and hasattr(value, "clone"):
        return value.detach().clone()
    if hasattr(value, "__array_interface__"):
        import numpy

        return numpy.array(value)
    return value


def tensor(value: typing.Any, parameter: typing.Any) -> typing.Any:
    """An input as a module takes it: on the device of its parameters, and of their type where
    numpy made it float64, or it is in half precision."""
    import torch

    result = torch.as_tensor(value)
    if parameter is None:
        return result
    if result.dtype == torch.float64 and not isinstance(value, torch.Tensor) \
            or result.dtype in (torch.float16, torch.bfloat16):
        result = result.to(parameter.dtype)
    return result.to(parameter.device)


#: numpy's types of ONNX Runtime's numbers.
_SESSION_TYPES = {"tensor(float16)": "float16", "tensor(float)": "float32",
                  "tensor(double)": "float64"}


def _of_session(session: typing.Any, inputs: typing.Mapping[str, object],
                outputs: list[str]) -> dict[str, object]:
    import numpy

    types = {value.name: _SESSION_TYPES.get(value.type) for value in session.get_inputs()}
    given = dict(inputs) if set(types) == set(inputs) else dict(zip(types, inputs.values()))
    # A session takes its own type of numbers alone, and a package of float16 rounds to it.
    feeds = {name: numpy.asarray(value, dtype=types[name]) for name, value in given.items()}
    names = [value.name for value in session.get_outputs()]
    return _by_name(dict(zip(names, session.run(None, feeds))), outputs)


def _called(function: typing.Callable[..., object], inputs: typing.Mapping[str, object],
            signature: typing.Callable[..., object] | None = None) -> object:
    """The result for inputs by name, where the parameters have those names; else by order."""
    import inspect

    try:
        parameters = inspect.signature(signature or function).parameters
    except (TypeError, ValueError):
        parameters = {}  # type: ignore[assignment]
    if all(name in parameters and parameters[name].kind in (
            inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
           for name in inputs):
        return function(**inputs)
    return function(*inputs.values())


def _by_name(results: object, outputs: list[str]) -> dict[str, object]:
    """Results by the model's names: by name where they have these, else by order."""
    if isinstance(results, typing.Mapping):
        if set(outputs) <= set(results):
            return {name: results[name] for name in outputs}
        results = list(results.values())
    if not isinstance(results, (list, tuple)):
        results = [results]
    if len(results) != len(outputs):
        raise _errors.UsageError(
            f"the reference returns {len(results)} arrays, but the model {', '.join(outputs)}; "
            "pass a function that returns these", status=64)
    return dict(zip(outputs, results))
