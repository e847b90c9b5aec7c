"""The folder of a training that is resumed: state, metrics, configuration and event files."""

import json
import os
import shutil

import h5py
import numpy

from .case import Case, DATA, FAILED, FINE, Rule, label, named_once
from .numbers import INT64, INT64_MAX

RESUME = ("train", "--config", "base/train.yaml", "--resume", "--set", "steps=6")
# Numbers may be odd without harm; those that are not are refused.
RESUMED = Rule((FINE, FAILED, DATA))


def _run(base, change):
    def write(folder):
        shutil.copytree(base / "run", folder / "run")
        change(folder / "run")

    return write


def _progress(**changes):
    def change(run):
        with h5py.File(run / "last.h5", "r+") as file:
            state = json.loads(file.attrs["training"])
            state.update(changes)
            file.attrs["training"] = json.dumps(state)

    return change


def _training(text):
    def change(run):
        with h5py.File(run / "last.h5", "r+") as file:
            file.attrs["training"] = text

    return change


NUMBERS = [*INT64, 2**63, 2**64, 10**9, 10**9 + 1, 1e400, float("nan"), -0.5, 1e308, "4", None, [],
    {},
           True]


def _states():
    for number in NUMBERS:
        for key in ("step", "best_loss", "validations_since_best"):
            yield f"state/{key}={label(number)}", _progress(**{key: number})
    for text in ("", "x", "null", "[]", "{", "{}", "[" * 20_000, '{"a":' * 12_000, "1e400",
        '{"step":1}',
                 '{"step":1,"step":2,"configuration":""}', '{"step":5,"configuration":"\\u0000"}',
                 '{"step":5,"configuration":"steps: 4\\n\\u001b[31mx: 1\\nFORGED: 1"}',
                 '{"step":5,"configuration":"&a [*a]"}'):
        yield f"state/text={label(text)}", _training(text)
    for text in ("a: &a [*a]", "x", "batch: 0", "[" * 10_000, "architecture: eccv16",
                 "output: \"x\\e[31m\\nFORGED\"", "steps: 1\n" * 5000):
        yield f"state/configuration={label(text)}", _progress(configuration=text)


def _optimizers():
    def value(name, content):
        def change(run):
            with h5py.File(run / "last.h5", "r+") as file:
                group = file["optimizer"]
                key = next(key for key in group if key.startswith(name))
                if content is None:
                    del group[key]
                elif numpy.ndim(content) == 0 and not isinstance(content, str):
                    shape, kind = group[key].shape, group[key].dtype
                    del group[key]
                    group.create_dataset(key, data=numpy.full(shape, content, kind))
                else:
                    del group[key]
                    group.create_dataset(key, data=content)
        return change

    for number in (0, -1, 0.5, 2**31, 2.0**63, 3e38, float("nan"), float("inf"), None, "x",
                   numpy.zeros((0,)), numpy.zeros(1000), numpy.zeros((16, 1, 3, 3), "i8")):
        shown = number if not isinstance(number, numpy.ndarray) else number.shape
        yield f"optimizer/step={label(str(shown))}", value("step", number)
        yield f"optimizer/average={label(str(shown))}", value("exp_avg", number)

    def counters(number):
        def change(run):
            for name in ("last.h5", "best.h5"):
                with h5py.File(run / name, "r+") as file:
                    for key in [key for key in file if key.endswith("num_batches_tracked")]:
                        del file[key]
                        file[key] = numpy.int64(number)
        return change

    for number in (0, -1, INT64_MAX, INT64_MAX - 1, -(2**63)):
        yield f"counters={number}", counters(number)

    def weights(number):
        def change(run):
            with h5py.File(run / "last.h5", "r+") as file:
                file["stem.0.weight"][...] = number
        return change

    for number in (float("nan"), float("inf"), 3e38, 1e-45):
        yield f"weights={number}", weights(number)


def _metrics():
    def text(content):
        return lambda run: (run / "metrics.jsonl").write_bytes(
            content if isinstance(content, bytes) else content.encode())

    record = {"epoch": 0, "kind": "train", "learning_rate": 0.1, "loss": 0.1, "step": 1}
    for number in NUMBERS:
        for key in ("step", "loss", "epoch", "learning_rate"):
            yield f"metrics/{key}={label(number)}", text(json.dumps({**record, key: number}) + "\n")
    contents = {
        "empty": "", "cut": '{"step":1', "nul": bytes(1000), "deep": "[" * 100_000 + "\n",
        "long": '{"kind":"' + "x" * 20_000_000 + '"}\n', "many": "{}\n" * 300_000,
        "records": (json.dumps(record) + "\n") * 50_000, "no-kind": '{"step":1}\n',
        "escape": json.dumps({**record, "kind": "x\x1b[31m\nFORGED"}) + "\n",
        "bytes": bytes(range(256)),
        "huge-step": (json.dumps({**record, "step": INT64_MAX}) + "\n") * 2,
        "negative": json.dumps({**record, "step": -(2**63)}) + "\n",
        "far": "".join(json.dumps({**record, "step": step}) + "\n" for step in (-(2**62), 1)),
    }
    for name, content in contents.items():
        yield f"metrics/{name}", text(content)


def _folders():
    def replaced(name, make):
        def change(run):
            if (run / name).is_dir():
                shutil.rmtree(run / name)
            elif (run / name).exists():
                (run / name).unlink()
            make(run / name)
        return change

    makers = {
        "missing": lambda path: None, "folder": lambda path: path.mkdir(),
        "dangling": lambda path: path.symlink_to("nowhere/x"),
        "to-zero": lambda path: path.symlink_to("/dev/zero"),
        "to-full": lambda path: path.symlink_to("/dev/full"),
        "loop": lambda path: path.symlink_to(path.name), "empty": lambda path: path.touch(),
        "sparse": lambda path: (path.touch(), os.truncate(path, 2**40)),
    }
    for name in ("last.h5", "best.h5", "metrics.jsonl", "config.yaml", "report.html", "samples"):
        for kind, make in makers.items():
            yield f"folder/{name}-{kind}", replaced(name, make)
    for number in (0, 999, 2**63, 10**30):
        yield f"folder/step-{number}", lambda run, number=number: (
            run / f"step-{number}.h5").touch()
    yield "folder/events-sparse", replaced("events.out.tfevents.1.1.x", makers["sparse"])
    yield "folder/events-to-zero", replaced("events.out.tfevents.1.1.x", makers["to-zero"])


def cases(base):
    """All of these runs, which are resumed."""
    subjects = [*_states(), *_optimizers(), *_metrics(), *_folders()]
    made = []
    for index, (name, change) in enumerate(subjects):
        command = RESUME
        if index % 3 == 0:
            command = (*RESUME, "--set", "keep_last=1")
        made.append(Case(f"run/{name}", RESUMED, command, _run(base, change), keeps=("run",)))
    return named_once(made)
