"""Training runs that are compared byte by byte: photos to train on, and what a run leaves."""

import json

import h5py
import numpy
from PIL import Image

# How long steps and whole runs took differs from run to run.
TIMES = {"images_per_second", "waiting_share", "communication_shares", "seconds", "total",
         "waiting"}


def write_photos(folder, count=9, width=48, height=40):
    """Blurred noise, the same each time."""
    folder.mkdir()
    generator = numpy.random.default_rng(0)
    for index in range(count):
        pixels = (generator.random((6, 6, 3)) * 255).astype("u1")
        image = Image.fromarray(pixels).resize((width, height), Image.Resampling.BICUBIC)
        image.save(folder / f"photo{index}.png")


def contents(run):
    """All that a run leaves, without times and without the files for people."""
    result = {}
    for path in sorted(run.rglob("*")):
        name = str(path.relative_to(run))
        if path.is_dir() or name == "report.html" or "tfevents" in name:
            continue
        if path.suffix == ".h5":
            result.update({f"{name} {key}": value for key, value in tensors(path).items()})
        elif path.name == "metrics.jsonl":
            result[name] = [
                {key: value for key, value in json.loads(line).items() if key not in TIMES}
                for line in path.read_text().splitlines()]
        else:
            result[name] = path.read_bytes()
    return result


def tensors(path):
    with h5py.File(path) as file:
        result = {}

        def visit(name, item):
            if isinstance(item, h5py.Dataset):
                result[name] = item[()].tobytes()

        file.visititems(visit)
        for name, value in file.attrs.items():
            result[f"@{name}"] = untimed(value.decode() if isinstance(value, bytes) else value)
    return result


def untimed(text):
    """The state of training without the times of its steps."""
    try:
        state = json.loads(text)
    except (TypeError, ValueError):
        return str(text)
    return without_times(state)


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items()
                if key not in TIMES}
    return value


def differences(found, wanted):
    """The names of what two runs left that is not the same."""
    return sorted(set(found) ^ set(wanted)) + [
        name for name in wanted if name in found and found[name] != wanted[name]]
