"""Runs the commands that the documents quote, with all their arguments, on small files.

    Scripts/check commands [--only PAGE...] [--keep FOLDER] [--sample N] [--seed N]

Each page has a folder of its own, in which small files stand for those that the page names: photos
cut from README's picture, the smallest networks, packages made of them. The page's `sh` blocks run
there, line by line, in their order, by bash. Long commands get options that make them short, at the
end, so that what is quoted is read as it stands: see SHORT. A command may end with 0 only, unless
the page says otherwise: see OTHER_STATUS.

Not run is what installs, builds, needs a network, a GPU or several machines, or takes minutes: see
NOT_RUN and SKIPPED, with a reason for each. `Scripts/check docs` still compares the options of
these with the help. With --sample, a part of the pages runs, by the seed.
"""

import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time

import numpy
from PIL import Image

import retint_options
import retint_tool
from retint_photos.sheet import GAP, HEIGHT, PATH, ROWS, TITLE, WIDTH
from retint_tool import ROOT

from . import _seed_weights, docs

SECONDS, WORKERS = 120, 2
GOLDENS = ROOT / "Tests"
PHOTO_NETWORK = GOLDENS / "CommandVerifyTests/Goldens/networks"
DDCOLOR = GOLDENS / "CommandTests/Goldens/ddcolor"
OLDER = GOLDENS / "NeuralNetworkTests/Goldens"
IMPORTED = GOLDENS / "ArchitecturesTests/Goldens/imported-traced.onnx"

# Options that are appended: less work, and otherwise the command as it is quoted.
TRAINING = ("--set steps=2 batch=1 data.crop=64 data.other_crops=null validate_every=2 "
            "save_every=2 log_every=1 schedule.warmup_steps=0 data.validation_photos=1")
SHORT = {
    "train": TRAINING,
    "search": f"--steps 2 --rounds 1 --size 64 {TRAINING}",
    "benchmark": "--runs 1",
    "compare": "--rounds 1",
    "report": "--runs 5",
    # The smallest network has no weight of more than 2048 values.
    "quantize": "--threshold 0",
}
# By the words that begin a command, those of a longer beginning first.
NOT_RUN = {
    "pip": "installs packages", "tar": "needs a release", "sudo": "changes the system",
    "podman": "needs a release and an image", "swift": "builds", "mpicc": "needs MPI",
    "cd /usr/local": "changes the system", "man": "needs an installation",
    "git": "needs a repository of models", "model-explorer": "opens a browser",
    "python3 -m venv": "installs packages", "~/coreai/bin/pip": "installs packages",
    "Scripts/": "installs, builds, or takes minutes",
    ".venv/bin/python": "needs PyTorch or published weights",
    "python -m retint.gate": "Scripts/check python runs it",
    "eval": "changes the shell", "alias": "is of the shell", "cd": "is of the example's folder",
    ".build/release/unshuffle-net": "Scripts/check example runs it",
    "test": "is of the queue of jobs", "export RETINT_COREAI_PYTHON": "needs Core AI",
    "Scripts/demo": "takes 20 minutes",
}
# Commands that cannot run on small files, by page and by a part of the line.
SKIPPED = {
    ("ComputeOnAGPU.md", "--device cuda"): "needs a GPU",
    ("TrainOnSeveralMachines.md", "benchmark two.json"): "needs a measurement of several ranks",
    ("SeveralMachinesFigures.md", "benchmark links/"): "needs a measurement of several ranks",
    ("TrainOnSeveralMachines.md", "benchmark eccv16"): "measures ranks",
    ("retint-evaluate.md", "--features"): "needs published weights of EfficientNet-Lite",
    ("BringANetwork.md", "--reference reference.h5"): "needs PyTorch's outputs of ECCV16",
    ("ReadOlderModels.md", "--reference reference.h5"): "needs the outputs of the old network",
    ("VerifyAModel.md", "--judge both"): "needs Apple's runtime; Scripts/check judge runs it",
}
# Parts of commands that the files of this check cannot have, by page.
REPLACED = {
    # The network has one size.
    ("BringDDColor.md", "ddcolor.mlpackage --size 256"): "ddcolor.mlpackage --size 64",
    # The command before has a run in the folder of the configuration.
    ("SeveralMachinesFigures.md", "threads=1"): "threads=1 --output runs/ranks",
    # The video has few frames.
    ("ColorVideos.md", "eq(n\\,120)"): "eq(n\\,1)",
}
INSTALLED = "/usr/local/share/retint"
# Exit statuses other than 0, by page and by a part of the line. A search may find that the network
# of random weights has no package within the bound.
OTHER_STATUS = {
    ("CheckAPackage.md", "--search"): (0, 65),
    ("QuantizeAPackage.md", "--search"): (0, 65),
    ("CompareTwoModels.md", "diff"): (0, 2),
    ("VerifyAModel.md", "--layer-min-snr 25"): (0, 2),
    ("retint-diff.md", "diff"): (0, 2),
}
ASSIGNMENT = re.compile(r"^(export )?\w+=\S*$")


def cut_photos():
    """The originals in README's picture: free photos, which no checkpoint was trained on."""
    with Image.open(PATH) as sheet:
        for row in range(ROWS):
            left, top = sheet.width - WIDTH, TITLE + row * (HEIGHT + GAP)
            yield sheet.crop((left, top, left + WIDTH, top + HEIGHT)).convert("RGB")


class StandIns:
    """Makes the files that stand for those that pages name."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        self.photos = list(cut_photos())

    def retint(self, *arguments):
        done = subprocess.run(
            [retint_tool.RETINT, *map(str, arguments)], cwd=self.folder, capture_output=True,
            text=True, env={**os.environ, "RETINT_CHECKPOINTS": str(ROOT / "Checkpoints")})
        if done.returncode:
            sys.exit(f"commands: retint {shlex.join(map(str, arguments))}\n{done.stderr}")

    def make(self):
        for name in ("Scripts", "Checkpoints"):
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / "share").mkdir()
        for name, source in (("checkpoints", "Checkpoints"), ("recipes", "Scripts/recipes")):
            (self.folder / "share" / name).symlink_to(ROOT / source)
        self.make_photos()
        self.make_checkpoints()
        self.make_packages()
        self.make_configurations()

    def copy(self, source, *names):
        for name in names:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if pathlib.Path(source).is_dir():
                shutil.copytree(source, path)
            else:
                shutil.copy(source, path)

    def save(self, photo, *names):
        for name in names:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            photo.save(path)

    def make_photos(self):
        self.save(self.photos[0], "photo.jpg", "scan.jpg", "frame.png", "holiday/1.jpg")
        self.save(self.photos[1], "holiday/sub/2.jpg")
        self.save(self.photos[2].resize((800, 720)), "room.jpg")
        for index, photo in enumerate(self.photos):
            folders = ["photos", "my-photos", "gray-photos", "Datasets/debian-photos/train"]
            if index < 2:
                folders += ["photos/test", "Datasets/debian-photos/test",
                            "Datasets/debian-photos/validation"]
            if index >= 6:
                folders += ["photos/train"]
            self.save(photo, *(f"{folder}/{index + 1}.jpg" for folder in folders))
        self.save(self.photos[3], "photos/a.png")
        (self.folder / "skin-boxes.tsv").write_text(
            "photo\tx\ty\twidth\theight\nphotos/a.png\t0\t0\t1\t1\n")
        self.save(halves(self.photos[0].size, 255), "sky.png", "masks/1.png", "masks/sub/2.png")
        self.save(instances(self.photos[0].size), "people.png")

    def make_checkpoints(self):
        """The smallest network with random weights, under all names."""
        tiny = "best.h5"
        self.initialize("pico-unet", tiny, "--width", "0.25")
        self.copy(self.folder / tiny, "runs/first/best.h5", "first/best.h5", "second/best.h5",
                  "after.h5", "model.h5", "checkpoint.h5", "colorizer.h5", "run/best.h5", "MODEL")
        self.copy(ROOT / "Checkpoints/lite-class-unet.h5", "before.h5")
        self.copy(DDCOLOR / "ddcolor.onnx", "ddcolor.onnx", "network.onnx", "classifier.onnx")
        self.copy(DDCOLOR / "ddcolor.h5", "ddcolor-reference.h5", "reference.h5")
        self.copy(IMPORTED, "colorizer.onnx")
        self.retint("import", "ddcolor.onnx", "--range", "0..1", "-o", "ddcolor.h5")
        self.copy(self.folder / "ddcolor.h5", "eccv16.checkpoint.h5")
        self.retint("export", "lite-class-unet", "-o", "encoder.safetensors")
        (self.folder / "encoder.safetensors").rename(self.folder / "encoder.h5")

    def initialize(self, architecture, checkpoint, *options):
        """Makes a checkpoint with random weights."""
        _seed_weights.write(self.folder / "seed.safetensors", architecture)
        self.retint("import", "seed.safetensors", "--non-strict", "--architecture", architecture,
                    *options, "-o", checkpoint)

    def make_packages(self):
        def export(name, *options):
            self.retint("export", "best.h5", "-o", name, "--size", 64, *options)

        export("float32.mlpackage")
        export("colorizer.mlpackage", "--precision", "float16")
        export("256.mlpackage", "--target", "iOS18")
        self.retint("export", "best.h5", "-o", "512.mlpackage", "--size", 96, "--target", "iOS18")
        export("colorizer.aimodel")
        export("model.onnx")
        self.retint("verify", "colorizer.aimodel", "--against", "best.h5", "--intermediates",
                    "pytorch.aimodelintermediates")
        for kind in ("int8", "int4"):
            self.retint("quantize", "colorizer.mlpackage", "--weights", kind, "--threshold", 0,
                        "-o", f"{kind}.mlpackage")
        self.copy(self.folder / "float32.mlpackage", "good.mlpackage", "two.mlpackage",
                  "large.mlpackage", "model.mlpackage")
        self.copy(self.folder / "colorizer.mlpackage", "float16.mlpackage", "three.mlpackage",
                  "before.mlpackage")
        self.copy(self.folder / "int8.mlpackage", "small.mlpackage")
        self.copy(self.folder / "int4.mlpackage", "bad.mlpackage")
        self.copy(PHOTO_NETWORK / "pair.mlpackage", "part.mlpackage", "transformer.mlpackage")
        self.copy(PHOTO_NETWORK / "pair.h5", "part.h5")
        self.retint("verify", "colorizer.mlpackage", "--against", "best.h5", "--save",
                    "results.json")
        self.copy(self.folder / "results.json", "elsewhere/results.json")
        self.copy(OLDER / "unet.mlmodel", "old.mlmodel")
        self.copy(OLDER / "compiled-ios16.mlmodelc", "app/Model.mlmodelc")

    def make_configurations(self):
        for name in ("train.yaml", "run.yaml"):
            (self.folder / name).write_text(
                "architecture: pico-unet\nwidth: 0.25\noutput: runs/own\ndata: {train: photos}\n")
        (self.folder / "mine.yaml").write_text(
            "architecture: onnx\ninit: colorizer.h5\ndata: {train: photos}\n")

    def for_page(self, name, folder):
        """The files of a page: those of all pages, and some that only it needs."""
        shutil.copytree(self.folder, folder, symlinks=True)
        page = StandIns.__new__(StandIns)
        page.folder, page.photos = folder, self.photos
        PAGES.get(name, lambda _: None)(page)


def halves(size, level):
    """White at the left and black at the right."""
    pixels = numpy.zeros(size[::-1], numpy.uint8)
    pixels[:, :size[0] // 2] = level
    return Image.fromarray(pixels)


def instances(size):
    """Three stripes with the indices 1, 2 and 3."""
    row = 1 + numpy.arange(size[0]) * 3 // size[0]
    return Image.fromarray(numpy.tile(row.astype(numpy.uint8), (size[1], 1)))


def rgb_networks(page):
    """Packages of a network that takes a photo, and of one that takes two tensors."""
    for name in ("float32.mlpackage", "float16.mlpackage", "model.mlpackage"):
        shutil.rmtree(page.folder / name)
    page.copy(PHOTO_NETWORK / "photo.mlpackage", "float32.mlpackage")
    page.copy(PHOTO_NETWORK / "photo-float16.mlpackage", "float16.mlpackage")
    page.copy(PHOTO_NETWORK / "pair.mlpackage", "model.mlpackage")
    page.copy(PHOTO_NETWORK / "pair.h5", "reference.h5")
    page.retint("export", "model.mlpackage", "-o", "model.onnx")


def eccv16_weights(page):
    """Weights of ECCV16 itself, because its width is not an option of the quoted command."""
    page.initialize("eccv16", "whole.h5")
    page.retint("export", "whole.h5", "-o", "weights.safetensors")
    for name in ("eccv16.h5", "colorization_release_v2.pth"):
        shutil.copy(page.folder / "weights.safetensors", page.folder / name)


def video(page):
    """Frames of 768 × 704 in two containers; those of the second show for ten seconds each."""
    for name, rate, count in (("video.mp4", "1", "4"), ("video.mkv", "0.1", "8")):
        subprocess.run(
            ["ffmpeg", "-v", "error", "-loop", "1", "-i", "photo.jpg", "-vf",
             "scale=768:704,format=yuv420p", "-r", rate, "-frames:v", count, name],
            cwd=page.folder, check=True)


def masked_video(page):
    """A video, and masks by the numbers of its frames."""
    video(page)
    shutil.rmtree(page.folder / "masks")
    mask = instances((768, 704))
    page.save(mask, *(f"masks/{index:05}.png" for index in range(1, 5)))
    page.save(halves((768, 704), 255), "sky.png")


def recipe_network(page):
    """A network as the recipe of lite-class-unet has it."""
    page.initialize("lite-class-unet", "before.h5", "--temperature", "0.6")


def mobile_network(page):
    """A network of the recipe that the page trains again."""
    page.initialize("mobile-unet", "runs/first/best.h5")


PAGES = {
    "QuantizeAPackage.md": mobile_network,
    "TrainANetwork.md": recipe_network,
    "README.md": lambda page: (eccv16_weights(page), video(page)),
    "retint-import.md": eccv16_weights,
    "BringANetwork.md": eccv16_weights,
    "CheckAPackage.md": rgb_networks,
    "NetworksThatTakeRGB.md": rgb_networks,
    "ConvertAnONNXNetwork.md": rgb_networks,
    "ColorVideos.md": masked_video,
    "retint-video.md": video,
    "MeasureAModel.md": video,
}


def lines(block):
    """The commands of a block: lines that a backslash or a bar continues are one, and so is a
    script, which begins with `set`."""
    if block.startswith("set -"):
        return [block]
    text = re.sub(r"\\\n\s*", " ", block)
    return [line for line in re.sub(r"\|\n\s*", "| ", text).splitlines() if line.strip()]


def reason(page, line):
    """Why a line is not run; None if it is."""
    for (name, part), why in SKIPPED.items():
        if page == name and part in line:
            return why
    if line.startswith("#"):
        return "is a comment"
    if line.startswith("set -"):
        return None
    for words in docs.commands(line):
        text = " ".join(words)
        for start, why in sorted(NOT_RUN.items(), key=lambda item: -len(item[0])):
            if text == start or text.startswith(start if start.endswith("/") else f"{start} "):
                return why
    if "ffmpeg" in line and not shutil.which("ffmpeg"):
        return "needs ffmpeg"
    return None


def write_programs(folder):
    """Programs that stand for retint, with the options of SHORT, and for launchers of ranks."""
    folder.mkdir()
    cases = "\n".join(f"{name}) set -- \"$@\" {options} ;;" for name, options in SHORT.items())
    launcher = ('while [ $# -gt 0 ] && [ "$1" != retint ]; do shift; done\nexec "$@"\n')
    # An architecture, or retint's colorizers, at a small size.
    small = ('case "$1 $2" in benchmark\\ *.mlpackage|compare\\ *.mlpackage) ;;\n'
             'benchmark*|compare*) set -- "$@" --size 64 ;;\nesac\n')
    tool = shlex.quote(retint_tool.RETINT)
    texts = {
        "retint": f'{small}case "$1" in\n{cases}\nesac\nexec {tool} "$@"\n',
        # Outputs may exist.
        "ffmpeg": f'exec {shutil.which("ffmpeg")} -y "$@"\n',
        # One process stands for all ranks.
        "mpirun": launcher, "srun": launcher,
    }
    for name, text in texts.items():
        path = folder / name
        path.write_text(f"#!/bin/bash\n{text}")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


class Page:
    """A page's commands, and the folder in which they run."""

    def __init__(self, path):
        self.path, self.name = path, path.name
        text = path.read_text()
        self.lines = [line for block in docs.BLOCK.finditer(text) for line in lines(block[1])]
        self.runs = [line for line in self.lines if reason(self.name, line) is None]

    def run(self, stand_ins, folder, programs):
        """Runs the commands; returns faults and seconds."""
        stand_ins.for_page(self.name, folder)
        environment = {
            **os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder),
            "RETINT_CHECKPOINTS": str(ROOT / "Checkpoints")}
        faults, settings, start = [], "", time.monotonic()
        for line in self.runs:
            if ASSIGNMENT.match(line.strip()):
                settings += f"{line}\n"
                continue
            text = (settings + line).replace(INSTALLED, "share")
            for (name, part), other in REPLACED.items():
                text = text.replace(part, other) if name == self.name else text
            done = self.shell(text, folder, environment)
            allowed = next((status for (name, part), status in OTHER_STATUS.items()
                            if self.name == name and part in line), (0,))
            if done.returncode not in allowed:
                faults.append(f"{self.name}: {re.sub(' +', ' ', line)}\n    exit code "
                              f"{done.returncode}: {done.stderr.strip()[-600:]}")
        return faults, time.monotonic() - start

    @staticmethod
    def shell(text, folder, environment):
        try:
            return subprocess.run(
                ["bash", "-o", "pipefail", "-c", text], cwd=folder, env=environment,
                capture_output=True, text=True, errors="replace", timeout=SECONDS,
                stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(text, 124, "", f"takes over {SECONDS} s")


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--only", nargs="+", metavar="PAGE", default=[],
                        help="run only the commands of these files")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="keep what the commands write")
    retint_options.add_sample(parser)
    options = parser.parse_args()
    pages = [page for page in map(Page, docs.PAGES) if page.runs]
    if options.only:
        pages = [page for page in pages if page.name in options.only]
    pages = retint_options.Sample(options, "commands").of(pages)
    with tempfile.TemporaryDirectory(prefix="retint-commands-") as scratch:
        faults = check(pages, (options.keep or pathlib.Path(scratch)).resolve())
    return 1 if faults else 0


def check(pages, folder):
    stand_ins = StandIns(folder / "stand-ins")
    stand_ins.make()
    programs = write_programs(folder / "programs")
    faults, count = [], 0
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        # Names of pages repeat: README.md.
        runs = [(page, pool.submit(page.run, stand_ins, folder / f"{index}-{page.path.stem}",
                                   programs)) for index, page in enumerate(pages)]
        for page, run in runs:
            found, seconds = run.result()
            faults += found
            for fault in found:
                print(f"commands: {fault}", file=sys.stderr, flush=True)
            count += len(page.runs)
            print(f"commands: {page.path.relative_to(ROOT)}: {len(page.runs)} of "
                  f"{len(page.lines)} lines, {seconds:.1f} s", flush=True)
    print(f"commands: {count} lines run")
    return faults
