"""Models that run in this process."""

from __future__ import annotations

import json
import re
import typing

from retint import _arrays, _errors, _files, _images, _library, _options


class Model:
    """A model that runs: a checkpoint, an `.mlpackage`, an `.aimodel` or an ONNX file.

    It may be used by several threads, whose runs take turns. Use it as a context manager, or call
    :meth:`close`, to free its weights before it is collected.
    """

    def __init__(self, path: _options.Path, *, form: str | None = None,
                 compute: str | None = None, device: str | None = None, style: str | None = None,
                 threads: int | None = None, memory_limit: int | None = None) -> None:
        options = {
            "path": _files.model(path, "path"), "form": form, "compute": compute,
            "device": device, "style": style, "threads": threads,
            "memoryLimit": None if memory_limit is None else memory_limit << 20}
        given = {name: value for name, value in options.items() if value is not None}
        call = _library.Call(_library.library().retint_model_open(_json(given)))
        self._interface: dict[str, typing.Any] = call.values()["interface"]
        # The call is the model; None after closing.
        self._call: _library.Call | None = call
        #: The path that the model was opened at.
        self.path: str = str(options["path"])

    def __repr__(self) -> str:
        return f"retint.Model({self.path!r})"

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the weights. The model cannot run afterwards; outputs stay as they are."""
        self._call = None

    @property
    def _number(self) -> int:
        return self._call.number if self._call else 0

    @property
    def interface(self) -> dict[str, typing.Any]:
        """What goes in and what comes out: ``inputs`` and ``outputs``, each with its name, shapes,
        type and, where retint knows it, its role."""
        return self._interface

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs, in the model's order."""
        return [value["name"] for value in self._interface["inputs"]]

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs, in the model's order."""
        return [value["name"] for value in self._interface["outputs"]]

    @property
    def layers(self) -> list[dict[str, typing.Any]]:
        """The values that the model computes in between, as ``retint verify --layers`` names them:
        each with its operation, its shape, and the module that it is from."""
        call = _library.Call(_library.library().retint_model_layers(self._number))
        layers: list[dict[str, typing.Any]] = call.values()["layers"]
        return layers

    def run(self, *positional: object, **named: object) -> dict[str, typing.Any]:
        """Runs the model and returns its outputs by name, in float32.

        Inputs are arrays of numpy or torch, by position or by name, or one mapping of names to
        arrays, whose memory the library reads. Where the model takes an image, these are pixels of
        0 to 255, [N, C, H, W], in its order of colors. An image of Pillow becomes that: its blue
        comes first where the model takes it so, and a tensor gets its pixels as 0 to 1, like those
        of torchvision's ``to_tensor``. The model is compiled for new shapes at the first run that
        has them.
        """
        values = _images.values(bound(self.inputs, positional, named), self.interface)
        borrowed = _arrays.Borrowed(values)
        call = _library.Call(_library.library().retint_model_run(
            self._number, borrowed.tensors, borrowed.count))
        return _arrays.outputs(call, call.values()["outputs"])

    __call__ = run


def bound(names: list[str], positional: tuple[object, ...],
          named: typing.Mapping[str, object]) -> dict[str, object]:
    """Arguments by the names of inputs."""
    if len(positional) == 1 and not named and isinstance(positional[0], typing.Mapping):
        return bound(names, (), positional[0])
    if len(positional) > len(names):
        raise _errors.UsageError(
            f"there are {len(positional)} inputs, but the model takes {', '.join(names)}",
            status=64)
    values = dict(zip(names, positional))
    for name, value in named.items():
        # A package has legal names of its own: input_1 for input.1.
        name = next((own for own in names if _legal(own) == _legal(name)), name)
        if name in values:
            raise _errors.UsageError(f"input {name} is given twice", status=64)
        if name not in names:
            raise _errors.UsageError(
                f"there is no input {name}; the model takes {', '.join(names)}", status=64)
        values[name] = value
    missing = [name for name in names if name not in values]
    if missing:
        raise _errors.UsageError(
            f"there is no array for {', '.join(missing)}; the model takes {', '.join(names)}",
            status=64)
    return {name: values[name] for name in names}


def _legal(name: object) -> str:
    return re.sub(r"\W", "_", str(name))


def _json(options: dict[str, typing.Any]) -> bytes:
    try:
        return json.dumps(options).encode()
    except (TypeError, ValueError) as error:
        raise TypeError(f"an option of the model has the wrong type: {error}") from None


def load(path: _options.Path, **options: typing.Any) -> Model:
    """Opens a model.

    :param path: a checkpoint, an `.mlpackage`, an `.aimodel` or an `.onnx` file, or the name of a
        trained colorizer.
    :param options: those of :class:`Model`: ``form="file"`` keeps the interface of an ONNX file
        where it could be a colorizer; ``compute``, ``device``, ``style`` and ``threads`` are those
        of the command.

    >>> model = load("lite-class-unet")
    >>> model.inputs, model.outputs
    (['lightness'], ['ab'])
    """
    return Model(path, **options)
