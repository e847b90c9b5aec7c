"""The other tasks of the command, each as a function."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import threading
import typing
import warnings

from retint import (
    _arrays, _errors, _files, _library, _options, _references, _reports, _torch, _verification)

_DIFFERENT = 2
_INTERRUPTED = 130

#: A file, or its keys as nested mappings.
Configuration = typing.Union[_options.Path, typing.Mapping[str, object]]


def inspect(model: _options.Path | None = None, **options: typing.Any) -> dict[str, typing.Any]:
    """Describes a model, or this machine with ``system=True``: what ``retint inspect --json``
    prints.

    >>> inspect(checkpoint_path("lite-class-unet"))["architecture"]
    'lite-class-unet'
    """
    arguments = [] if model is None else [_files.model(model, "model")]
    return _json("inspect", *arguments, **options)


def diff(model: _options.Path, other: _options.Path,
         **options: typing.Any) -> dict[str, typing.Any]:
    """What differs between two models: what ``retint diff --json`` prints."""
    return _json("diff", _files.model(model, "model"), _files.model(other, "other"),
                 allowed=(0, _DIFFERENT), **options)


def replay(results: _options.Path, **options: typing.Any) -> dict[str, typing.Any]:
    """Runs a saved verification again: what ``retint replay --json`` prints."""
    return _json("replay", _options.path(results, "results"), allowed=(0, _DIFFERENT), **options)


def evaluate(model: _options.Path, photos: _options.Path,
             messages: _library.Messages | None = None,
             **options: typing.Any) -> dict[str, typing.Any]:
    """Measures a colorizer on photos in color: what ``retint evaluate --json`` prints.

    :param photos: a folder, a list of photos or a packed dataset.
    """
    return _json("evaluate", _files.model(model, "model"), "--data",
                 _options.path(photos, "photos"), messages=messages, **options)


def compare(*models: _options.Path, messages: _library.Messages | None = None,
            **options: typing.Any) -> dict[str, typing.Any]:
    """Compares models by size, speed and, with ``data=photos``, quality: what
    ``retint compare --json`` prints."""
    return _json("compare", *(_files.model(model, "models") for model in models),
                 messages=messages, **options)


def benchmark(model: _options.Path, **options: typing.Any) -> dict[str, typing.Any]:
    """Measures how fast a model runs, or with ``mode="training"`` trains: what
    ``retint benchmark --json`` prints.

    :param model: a model, the name of an architecture, or a saved benchmark.
    """
    return _json("benchmark", _files.model(model, "model"), **options)


def report(model: _options.Path, **options: typing.Any) -> dict[str, typing.Any]:
    """Reports whether a model is fast enough for video: what ``retint report --json`` prints."""
    return _json("report", _files.model(model, "model"), **options)


def models() -> list[dict[str, typing.Any]]:
    """The trained colorizers that are installed, as ``retint models --json`` lists them.

    >>> [model["name"] for model in models()]
    ['lite-class-unet', 'lite-class-unet-old', 'lite-class-unet-small']
    """
    found: list[dict[str, typing.Any]] = _json("models")["models"]
    return found


def dataset(task: str, source: _options.Path, messages: _library.Messages | None = None,
            **options: typing.Any) -> dict[str, typing.Any]:
    """Checks, packs or splits photos for training: what ``retint dataset --json`` prints.

    :param task: ``"inspect"``, ``"pack"`` or ``"split"``.
    :param source: a folder, a list of photos or a packed dataset.
    """
    return _json("dataset", task, _options.path(source, "source"), messages=messages, **options)


def search(configuration: Configuration, output: _options.Path,
           candidates: typing.Iterable[typing.Mapping[str, object]],
           messages: _library.Messages | None = None,
           settings: typing.Mapping[str, object] | None = None,
           **options: typing.Any) -> dict[str, typing.Any]:
    """Trains several networks under one budget: what ``retint search --json`` prints.

    :param configuration: what all candidates share: a file, or its keys as nested mappings.
    :param output: the folder for the runs and `report.html`.
    :param candidates: of each candidate, the keys with values that are its own. Those whose
        training diverges are in ``diverged`` of the result, with the reason.
    :param settings: keys with values that replace those of the configuration.
    """
    arguments = _set("--set", settings or {})
    for index, candidate in enumerate(candidates):
        own = _set("--candidate", candidate)
        if not own:
            raise _errors.UsageError(
                f"candidates[{index}] is empty; give it a key with a value of its own", status=64)
        arguments += own
    with _configuration(configuration) as path:
        return _json("search", f"--config={path}", f"--output={_options.path(output, 'output')}",
                     *arguments, messages=messages, **options)


def colorize(model: _options.Path, photos: _options.Path | typing.Sequence[_options.Path],
             output: _options.Path, messages: _library.Messages | None = None,
             **options: typing.Any) -> list[pathlib.Path]:
    """Colors photos and returns the paths of the colored ones: `output`, or files in that folder.

    :param photos: photos, and folders of photos.
    """
    paths = [photos] if isinstance(photos, (str, os.PathLike)) else list(photos)
    written = _library.command(
        "colorize", _files.model(model, "model"), *(_options.path(p, "photos") for p in paths),
        "--output", _options.path(output, "output"), *_options.arguments(options),
        messages=messages)
    return sorted(pathlib.Path(path) for path in written.split("\n") if path)


def export(model: object, output: _options.Path, inputs: object = None, *,
           messages: _library.Messages | None = None, **options: typing.Any) -> pathlib.Path:
    """Writes a model as a Core ML package, an `.aimodel` or an ONNX file, by the name's extension,
    and returns its path.

    :param model: a path, or a torch module, which is exported by ``torch.onnx`` first; also one
        that was traced, scripted, or exported by ``torch.export``. It keeps its inputs, outputs and
        sizes; ``interface="retint"`` makes a colorizer of it, which takes lightness in 0…100 and
        returns a and b, as do options of that interface. A module in half precision becomes a model
        of float16, unless ``precision`` says otherwise.
    :param inputs: what a torch module is traced with: a tensor or array, several in the order of
        ``forward``, or a mapping of its parameters' names.
    :param messages: is called with each note; without it, notes are warnings. There is one if torch
        exported something else than the module computes for ``inputs``.
    """
    path = _options.path(output, "output")
    for name in ("size", "min_size", "max_size"):
        if isinstance(options.get(name), (list, tuple)):
            raise TypeError(f"{name} takes {_options.SIZES}, not {options[name]!r}")
    given = _options.arguments(options)
    if isinstance(model, typing.Mapping):
        raise TypeError("model holds weights alone; pass the module itself")
    if inputs is None:
        inputs = _references.example_of(model)
    model = _references.module_of(model)
    if not _references.is_module(model):
        if inputs is not None:
            raise _errors.UsageError("inputs are for a torch module, not for a file", status=64)
        file = _files.model(typing.cast(_options.Path, model), "model")
        _library.written("export", file, "--package", path, *given, messages=messages)
        return pathlib.Path(path)
    _references.refuse_class(model, "model")
    if "precision" not in options and _is_half(model):
        given.append("--precision=float16")
    if not set(options) & _OF_COLORIZERS:
        given.append("--interface=original")
    with _options.scratch() as folder:
        varies = any(options.get(name) for name in ("sizes", "min_size", "max_size"))
        written = _torch.written(model, inputs, pathlib.Path(folder), varies=varies)
        with _errors.naming(written.file, type(model).__name__):
            _library.written("export", written.file, "--package", path, *given, messages=messages)
        for text in _torch.differences(written):
            if messages is not None:
                messages(f"warning: {text}")
            else:
                warnings.warn(text, stacklevel=2)
    return pathlib.Path(path)


def _is_half(module: typing.Any) -> bool:
    """Whether all weights of a module are in half precision."""
    import torch

    types = {value.dtype for value in module.parameters() if value.is_floating_point()}
    return types == {torch.float16}


#: Options of export that choose the interface, or belong to that of a colorizer.
_OF_COLORIZERS = {"interface", "normalization", "output_form", "color_range"}


def quantize(package: _options.Path, output: _options.Path, *, weights: str | None = None,
             messages: _library.Messages | None = None,
             **options: typing.Any) -> dict[str, typing.Any]:
    """Shrinks the weights of a package: what ``retint quantize --json`` prints.

    :param weights: float16, int8, uint8, int4 or a palette, as the option of the command.
    """
    return _json("quantize", _options.path(package, "package"), "--package",
                 _options.path(output, "output"), messages=messages, weights=weights, **options)


def calibrate(package: _options.Path, output: _options.Path, photos: _options.Path,
              **options: typing.Any) -> dict[str, typing.Any]:
    """Like :func:`quantize`, with scales and codes that are calibrated on photos."""
    return quantize(package, output, calibrate=_options.path(photos, "photos"), **options)


def find_precision(package: _options.Path, reference: _options.Path, output: _options.Path,
                   messages: _library.Messages | None = None,
                   **options: typing.Any) -> _reports.Report:
    """Finds a smallest set of operations of a float16 package that must stay in float32, and
    writes the package that passes."""
    reference = _options.path(reference, "reference")
    return _verification.verify(
        package, reference, messages=messages, find_precision=True,
        output=_options.path(output, "output"), **options)


def reduce(package: _options.Path, reference: object, output: _options.Path,
           inputs: object = None, **options: typing.Any) -> _reports.Report:
    """If a package fails, writes the smallest part of it that still fails, and beside it (.h5) its
    inputs and expected output."""
    return _verification.verify(
        package, reference, inputs, reduce=_options.path(output, "output"), **options)


def import_weights(weights: object, output: _options.Path, architecture: str | None = None, *,
                   messages: _library.Messages | None = None,
                   **options: typing.Any) -> pathlib.Path:
    """Makes a checkpoint and returns its path.

    :param weights: a torch module, its state dict, or a file: of weights, or of an ONNX network.
    :param architecture: one of retint's architectures, of which the weights are.
    :param messages: is called with each note; without it, notes are warnings.
    """
    path = _options.path(output, "output")
    given = _options.arguments({"architecture": architecture, **options})
    if isinstance(weights, (str, os.PathLike)):
        _library.written("import", _options.path(weights, "weights"), *given, "--output", path,
                         messages=messages)
        return pathlib.Path(path)
    state = typing.cast(typing.Any, weights)
    tensors = state.state_dict() if hasattr(state, "state_dict") else state
    if not isinstance(tensors, typing.Mapping):
        raise TypeError(
            f"weights is {type(weights).__name__}; pass a module, a state dict or a file")
    with _options.scratch() as folder:
        file = str(pathlib.Path(folder, "weights.h5"))
        _arrays.write(file, tensors)
        with _errors.naming(file, type(weights).__name__):
            _library.written("import", file, *given, "--output", path, messages=messages)
    return pathlib.Path(path)


def train(configuration: Configuration | None, output: _options.Path,
          **settings: typing.Any) -> dict[str, typing.Any]:
    """Trains a colorizer to the end, and returns the last record of its metrics.

    The parameters are those of :class:`Trainer`.
    """
    last: dict[str, typing.Any] = {}
    for record in Trainer(configuration, output, **settings):
        last = record
    return last


class Trainer:
    """A training, whose records are iterated while it goes on.

    Records of the kind ``"train"`` have a ``loss``, those of ``"validation"`` the quality on other
    photos.

    >>> trainer = Trainer("config.yaml", "runs/first", steps=1000)   # doctest: +SKIP
    >>> for record in trainer:                                       # doctest: +SKIP
    ...     if record["kind"] == "train" and record["loss"] < 0.01:
    ...         trainer.stop()

    :param configuration: a file, or its keys as nested mappings; None for that of the run which
        goes on.
    :param output: the folder of the run, which gets `best.h5` and `last.h5`.
    :param resume: whether the run in that folder goes on.
    :param messages: is called with each message and line of progress.
    :param settings: keys with values that replace those of the configuration. A dotted key is a
        mapping, ``data={"crop": 192}``, or has two underscores: ``data__crop=192``.
    """

    def __init__(self, configuration: Configuration | None, output: _options.Path, *,
                 resume: bool = False, messages: _library.Messages | None = None,
                 **settings: object) -> None:
        self._messages, self._is_stopped = messages, threading.Event()
        self._configuration = configuration
        if configuration is None:
            if not resume:
                raise TypeError("configuration may be None only with resume=True")
        elif not isinstance(configuration, typing.Mapping):
            _options.path(configuration, "configuration")
        #: The folder of the run.
        self.output = pathlib.Path(_options.path(output, "output"))
        self._arguments = [f"--output={self.output}", *_set("--set", settings)]
        if resume:
            self._arguments.append("--resume")

    def stop(self) -> None:
        """Ends the training after the current step; its state is saved. Before the records are
        iterated, there is nothing to save: the next iteration ends at once, without training."""
        self._is_stopped.set()

    def __iter__(self) -> typing.Iterator[dict[str, typing.Any]]:
        """Trains, and yields the records of `metrics.jsonl` as they are written."""
        try:
            # A stop that came before is not forgotten.
            if not self._is_stopped.is_set():
                yield from self._records()
        finally:
            # The next iteration trains.
            self._is_stopped.clear()

    def _records(self) -> typing.Iterator[dict[str, typing.Any]]:
        with _configuration(self._configuration) as path:
            log = _Log(self.output / "metrics.jsonl")
            given = [f"--config={path}"] if path else []
            call = _library.start("train", *given, *self._arguments)
            try:
                while not call.wait(self._messages):
                    yield from log.new()
                    if self._is_stopped.is_set():
                        call.cancel()
                yield from log.new()
            except BaseException:
                # Its state is saved before anything else goes on.
                call.stop()
                raise
            call.output(allowed=(0, _INTERRUPTED) if self._is_stopped.is_set() else (0,))


class _Log:
    """The lines that a file gets from now on.

    A resumed run replaces its file by one without the records after its step: what was there before
    is not new.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path, self._file = path, self._identity(path)
        self._known = set(path.read_bytes().splitlines()) if path.exists() else set()
        self._place, self._rest = path.stat().st_size if path.exists() else 0, b""

    @staticmethod
    def _identity(path: pathlib.Path) -> int | None:
        return path.stat().st_ino if path.exists() else None

    def new(self) -> typing.Iterator[dict[str, typing.Any]]:
        try:
            with self._path.open("rb") as file:
                if os.fstat(file.fileno()).st_ino != self._file:
                    self._file, self._place, self._rest = os.fstat(file.fileno()).st_ino, 0, b""
                file.seek(self._place)
                data = file.read()
        except FileNotFoundError:
            return
        self._place += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.strip() and line not in self._known:
                yield json.loads(line)


@contextlib.contextmanager
def _configuration(value: Configuration | None) -> typing.Iterator[str | None]:
    """The path of a file with a configuration; None without one."""
    if value is None:
        yield None
        return
    if not isinstance(value, typing.Mapping):
        yield _options.path(value, "configuration")
        return
    with _options.scratch() as folder:
        path = pathlib.Path(folder, "configuration.yaml")
        # JSON is YAML.
        text = json.dumps(_plain(value), ensure_ascii=False)
        path.write_text(text, encoding="utf-8")
        # Its only line says nothing: messages name the key.
        with _errors.naming(str(path), "configuration"), \
                _errors.naming(f"{path}:1", "configuration"):
            yield str(path)


def _plain(value: object, key: str = "") -> object:
    """A configuration's value as JSON takes it.

    :param key: where it is, for errors.
    """
    if isinstance(value, typing.Mapping):
        prefix = f"{key}." if key else ""
        return {name: _plain(item, f"{prefix}{name}") for name, item in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item, key) for item in value]
    value = _scalar(value)
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"{key} cannot be {type(value).__name__}; it takes a number or a text")


def _scalar(value: object) -> object:
    """A number of NumPy or torch as one of Python's; other values as they are."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        return typing.cast(typing.Any, value).item()
    return value


def _set(option: str, settings: typing.Mapping[str, object]) -> list[str]:
    """An option with the keys and values of settings."""
    values = [f"{key}={_setting(value)}" for key, value in _flat(settings)]
    return [option, *values] if values else []


def _flat(settings: typing.Mapping[str, object],
          prefix: str = "") -> typing.Iterator[tuple[str, object]]:
    for key, value in settings.items():
        name = prefix + key.replace("__", ".")
        if isinstance(value, typing.Mapping):
            yield from _flat(value, name + ".")
        else:
            yield name, value


def _setting(value: object) -> str:
    value = _scalar(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _json(command: str, *arguments: str, messages: _library.Messages | None = None,
          allowed: tuple[int, ...] = (0,), **options: typing.Any) -> dict[str, typing.Any]:
    text = _library.command(command, *arguments, *_options.arguments(options), "--json",
                            messages=messages, allowed=allowed)
    result: dict[str, typing.Any] = json.loads(text)
    return result
