"""The healthy files that hostile ones are derived from, written once for all cases."""

import pathlib
import re
import subprocess

import h5py
import numpy
from PIL import Image
import retint_tool

SIDE = 32
NETWORK = ["--architecture", "pico-unet", "--width", "0.0625"]
CONFIGURATION = """\
architecture: pico-unet
width: 0.0625
output: run
batch: 2
steps: 4
validate_every: 2
save_every: 2
log_every: 1
threads: 1
tensorboard: false
data: {train: base/photos, validation: base/photos, crop: 32}
"""


def make(folder):
    """Writes the files into a new folder and returns it."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    _photos(folder)
    _state(folder / "state.h5")
    retint_tool.run("import", folder / "state.h5", *NETWORK, "-o", folder / "model.h5")
    for target in ("iOS15", "iOS16", "iOS18"):
        retint_tool.run("export", folder / "model.h5", "-o", folder / f"{target}.mlpackage",
                        "--size", SIDE, "--target", target)
        if target != "iOS15":
            for kind in ("int8", "palette4"):
                retint_tool.run(
                    "quantize", folder / f"{target}.mlpackage", "--weights", kind, "--threshold",
                    "0", "-o", folder / f"{target}-{kind}.mlpackage")
    retint_tool.run("dataset", "pack", folder / "photos", "-o", folder / "pack.h5")
    _video(folder / "video.y4m", frames=3)
    _reference(folder / "reference.h5")
    retint_tool.run("verify", folder / "iOS15.mlpackage", "--against", folder / "model.h5",
                    "--save", folder / "results.json")
    _run(folder)
    return folder


def _photos(folder):
    (folder / "photos").mkdir()
    random = numpy.random.default_rng(0)
    for index in range(4):
        pixels = (random.random((6, 6, 3)) * 255).astype("u1")
        image = Image.fromarray(pixels).resize((48, 40), Image.Resampling.BICUBIC)
        image.save(folder / "photos" / f"photo{index}.png")
    for name in ("photo.png", "photo.jpg", "photo.webp"):
        image.save(folder / name)
    Image.new("L", image.size, 255).save(folder / "mask.png")


def _state(path):
    """A state dict with the names and shapes that retint lists as missing, a few at a time."""
    unwritten = path.with_name("none.h5")
    command = [retint_tool.RETINT, "import", path, *NETWORK, "-o", unwritten]
    random = numpy.random.default_rng(0)
    tensors = {"stem.0.weight": numpy.zeros(1, "f4")}
    while True:
        with h5py.File(path, "w") as file:
            for name, values in tensors.items():
                file[name] = values
        listed = re.findall(
            r"(?:missing|mis-shaped) +(\S+) +\[([\d, ]*)\]",
            subprocess.run(command, capture_output=True, text=True).stderr)
        if not listed:
            break
        for name, dimensions in listed:
            shape = [int(size) for size in dimensions.split(",")] if dimensions else []
            if name.endswith("num_batches_tracked"):
                tensors[name] = numpy.int64(1)
            elif name.endswith("running_var"):
                tensors[name] = numpy.ones(shape, "f4")
            else:
                tensors[name] = (random.standard_normal(shape) * 0.2).astype("f4")
    unwritten.unlink(missing_ok=True)


def _video(path, frames):
    with open(path, "wb") as file:
        file.write(b"YUV4MPEG2 W32 H32 F25:1 Ip A1:1 C420jpeg\n")
        for index in range(frames):
            file.write(b"FRAME\n" + bytes([60 + index]) * 1024 + bytes([128]) * 512)


def _reference(path):
    with h5py.File(path, "w") as file:
        file["inputs/input"] = numpy.full((1, 1, SIDE, SIDE), 50, "f4")
        file["outputs/ab"] = numpy.zeros((1, 2, SIDE, SIDE), "f4")


def _run(folder):
    """A finished training."""
    (folder / "train.yaml").write_text(CONFIGURATION)
    retint_tool.run("train", "--config", folder / "train.yaml", "--output", folder / "run",
                    "--set", f"data.train={folder}/photos", f"data.validation={folder}/photos")
