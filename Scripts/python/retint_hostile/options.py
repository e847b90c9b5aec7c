"""Command lines: each option of each command with absurd values, and paths that do not exist.

The options are those that `retint help` lists, so that a new option is tried at once.
"""

import re
import shutil

import retint_tool

from .case import (
    Case, DATA, FAILED, FINE, Rule, TOLERANCE, USAGE, label, named_once)
from .numbers import TEXTS

SMALL = ["--size", "32"]
# A healthy command line of each command.
COMMANDS = {
    "average": ["base/model.h5", "base/run/best.h5", "-o", "new.h5"],
    "benchmark": ["base/model.h5", "--runs", "1", *SMALL],
    "colorize": ["base/model.h5", "base/photo.png", "-o", "out", *SMALL],
    "combine": ["small=base/iOS18.mlpackage", "large=base/iOS18.mlpackage", "-o",
        "new.mlpackage"],
    "compare": ["base/model.h5", "--rounds", "1", "--size", "32"],
    "dataset inspect": ["base/photos"],
    "dataset pack": ["base/photos", "-o", "new.h5"],
    "dataset split": ["base/photos", "-o", "lists"],
    "diff": ["base/iOS15.mlpackage", "base/iOS18.mlpackage"],
    "evaluate": ["base/model.h5", "--data", "base/photos", *SMALL],
    "export": ["base/model.h5", "-o", "new.mlpackage", *SMALL],
    "import": ["base/state.h5", "--architecture", "pico-unet", "--width", "0.0625", "-o", "new.h5"],
    "inspect": ["base/model.h5"],
    "quantize": ["base/iOS18.mlpackage", "-o", "new.mlpackage", "--weights", "int8", "--threshold",
        "0"],
    "replay": ["base/results.json"],
    "report": ["base/model.h5", "--runs", "1", *SMALL],
    "search": ["--config", "base/train.yaml", "-o", "found", "--candidate", "width=0.0625",
        "--steps",
               "2", "--rounds", "1", *SMALL],
    "train": ["--config", "base/train.yaml", "--dry-run"],
    "verify": ["base/iOS15.mlpackage", "--reference", "base/reference.h5"],
    "video": ["base/model.h5", "base/video.y4m", "-o", "new.y4m", *SMALL],
}
# Commands that measure, which takes seconds: their options are tried only with values that no
# command can take, and with those that the others do not have.
SLOW = {"benchmark", "compare", "report"}
NEVER = ["-1", "9223372036854775807", "9223372036854775808", "nan", "", "word", "1048576"]
# Numbers of times something slow is done, however many are requested.
LASTING = {"--runs", "--rounds", "--seconds"}
# Sizes: a million is a number like any other, and far beyond what fits into memory.
BOUNDED = {"--size", "--batch", "--threads", "--height", "--width", "--side"}
# Options whose values are free text.
TEXT = {"--author", "--license", "--model-version", "--keep-float32", "--keep-float32-types",
    "--data",
        "--photos", "--output", "--package", "--html", "--config", "--calibrate", "--photo",
        "--mask",
        "--anchor", "--video", "--features", "--old-photo", "--samples",
        "--against", "--reference", "--before", "--encoder", "--set",
        "--candidate", "--encoder-option", "--keep-float32-overflow", "--quad", "--instances",
        "--folder", "--worst-image",
        "--save", "--junit", "--sarif", "--reduce", "--intermediates", "--judge-python"}


def _options(command):
    """The options of a command that take a value, by their long names."""
    text = retint_tool.run("help", *command.split())
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)(?:, --[\w-]+)* <", text, re.MULTILINE)


def _without(arguments, option):
    """Healthy arguments without an option that is given another value."""
    short = {"--output": "-o", "--package": "-o"}.get(option)
    result, skip = [], False
    for word in arguments:
        if skip:
            skip = False
        elif word == option or word == short:
            skip = True
        else:
            result.append(word)
    return result


def _numbers():
    for command, arguments in COMMANDS.items():
        for index, option in enumerate(_options(command)):
            if option in TEXT:
                continue
            texts = NEVER if command in SLOW else TEXTS[index % 2::2]
            if option in BOUNDED:
                texts = [*texts, "1048576"]
            if option in LASTING:
                texts = ["-1", "9223372036854775808", "nan", ""]
            texts = list(dict.fromkeys(texts))
            for text in texts:
                line = [*command.split(), *_without(arguments, option), f"{option}={text}"]
                yield f"{command}/{option}={label(text)}", text, line


def _rule(text):
    """What a number as text must come to: words and empty ones are not numbers."""
    if text in ("", " ", "word", "nan"):
        return Rule((USAGE, DATA))
    return Rule((FINE, TOLERANCE, USAGE, DATA, FAILED))


PATHS = ["", ".", "/", "base", "/dev/null", "/dev/zero", "/dev/full", "nowhere", "link", "loop",
         "a" * 300, "a" * 4096, "b/" * 2100 + "c", "x\nFORGED", "x\x1b[31m", "x\x9by",
         "\udcff\udcfe",
         "base/model.h5/x", "base/photo.png", "base/video.y4m", "base/iOS15.mlpackage",
         "base/iOS15.mlpackage#main", "base/iOS15.mlpackage#", "#main", "base/model.h5#main",
         "base/iOS15.mlpackage/Manifest.json", "/proc/self/mem", "/proc/self/fd/0", "-", "--", "~",
         "$HOME", "*", "pipe"]
# The command lines that read the path {}, and those that write it.
READING = [
    "inspect {}", "import {} --architecture pico-unet -o new.h5", "export {} -o new.mlpackage",
    "quantize {} -o new.mlpackage", "verify {} --against base/model.h5 --size 32",
    "verify base/model.h5 --against {} --size 32", "verify base/model.h5 --reference {}",
    "replay {}", "replay base/results.json --folder {}",
    "diff base/model.h5 {} --size 32", "diff {} base/iOS15.mlpackage --no-run",
    "verify base/model.h5 --against base/model.h5 --photo {}", "colorize {} base/photo.png -o out",
    "colorize base/model.h5 {} -o out --size 32",
    "colorize base/model.h5 base/photo.png -o out --mask {}",
    "evaluate base/model.h5 --data {} --size 32", "dataset inspect {}",
    "train --config {} --dry-run",
    "train --config base/train.yaml --dry-run --set data.train={}",
    "quantize base/iOS18.mlpackage -o new.mlpackage --config {}",
    "average {} base/model.h5 -o new.h5",
    "combine a={} b=base/iOS18.mlpackage -o new.mlpackage",
    "quantize base/iOS18.mlpackage -o new.mlpackage --weights int8 --calibrate {}",
]
WRITING = [
    "import base/state.h5 --architecture pico-unet --width 0.0625 -o {}",
    "export base/model.h5 --size 32 -o {}", "export base/model.h5 --size 32 -o {}.mlpackage",
    "export base/model.h5 -o {}.h5", "export base/model.h5 -o {}.safetensors",
    "export base/model.h5 --size 32 -o {}.onnx", "export base/iOS18.mlpackage -o {}.onnx",
    "quantize base/iOS18.mlpackage --weights int8 -o {}.mlpackage",
    "dataset pack base/photos -o {}.h5",
    "dataset split base/photos -o {}", "average base/model.h5 base/model.h5 -o {}",
    "colorize base/model.h5 base/photo.png --size 32 -o {}",
    "verify base/model.h5 --against base/model.h5 --size 32 --html {}",
    "diff base/model.h5 base/model.h5 --size 32 --html {}",
    "verify base/iOS15.mlpackage --reference base/reference.h5 --min-snr 500 --reduce {}.mlpackage",
    "verify base/iOS15.mlpackage --against base/model.h5 --find-precision -o {}.mlpackage",
    "verify base/model.h5 --against base/model.h5 --size 32 --intermediates "
    "{}.aimodelintermediates",
    "evaluate base/model.h5 --data base/photos --size 32 --html {}",
    "train --config base/train.yaml --set steps=1 --output {}",
]


def _paths():
    rule = Rule((FINE, FAILED, TOLERANCE, USAGE, DATA))
    for form, lines, step in (("read", READING, 5), ("write", WRITING, 3)):
        for index, line in enumerate(lines):
            for place, path in enumerate(PATHS):
                if (index + place) % step and form == "read" or (index + place) % step == 1:
                    continue
                if form == "write" and path.startswith(("base", "/proc", "~", "*")):
                    continue
                if form == "write" and path == "/":
                    continue
                if path in ("/", "base", "pipe") and "train" in line or path == "pipe":
                    continue
                if path == "/" and ("{}" in line and form == "read"):
                    continue
                words = [word.replace("{}", path) for word in line.split(" ")]
                yield f"{form}/{words[0]}-{index}/{label(path)}", rule, words


def _links(folder):
    (folder / "link").symlink_to("nowhere/further")
    (folder / "loop").symlink_to("loop")


def _copies(base, *names):
    def write(folder):
        for name in names:
            if (base / name).is_dir():
                shutil.copytree(base / name, folder / name)
            else:
                shutil.copy(base / name, folder / name)
    return write


def _overlaps(base):
    """Outputs that are inputs, or inside of one. What is refused leaves the input as it was."""
    lines = [
        ("model.h5", "import model.h5 -o model.h5"),
        ("model.h5", "average model.h5 model.h5 -o model.h5"),
        ("model.h5", "export model.h5 -o model.h5"),
        ("model.h5", "export model.h5 -o model.h5/new.mlpackage"),
        ("iOS18.mlpackage", "quantize iOS18.mlpackage --weights int8 -o iOS18.mlpackage"),
        ("iOS18.mlpackage", "quantize iOS18.mlpackage --weights int8 -o iOS18.mlpackage/"),
        ("iOS18.mlpackage",
            "quantize iOS18.mlpackage --weights int8 -o ./iOS18.mlpackage/new.mlpackage"),
        ("iOS18.mlpackage",
         "quantize iOS18.mlpackage --weights int8 -o iOS18.mlpackage/Data/new.mlpackage"),
        ("iOS18.mlpackage",
            "combine a=iOS18.mlpackage b=iOS18.mlpackage#main -o iOS18.mlpackage"),
        ("iOS18.mlpackage", "export iOS18.mlpackage -o iOS18.mlpackage/new.h5"),
        ("iOS18.mlpackage", "colorize iOS18.mlpackage base/photo.png -o iOS18.mlpackage"),
        ("pack.h5", "dataset pack pack.h5 -o pack.h5"),
        ("photos", "colorize base/model.h5 photos -o photos --size 32"),
        ("photos", "colorize base/model.h5 photos -o photos/new --size 32 --recursive"),
        ("photos", "dataset pack photos -o photos/photo0.png"),
        ("video.y4m", "video base/model.h5 video.y4m -o video.y4m --size 32"),
        ("video.y4m", "video base/model.h5 video.y4m -o video.y4m/new.y4m --size 32"),
        ("run", "train --config base/train.yaml --output run"),
        ("run", "average run/best.h5 run/last.h5 -o run/last.h5"),
        ("photo.png", "colorize base/model.h5 photo.png -o . --size 32"),
        ("photo.png", "colorize base/model.h5 photo.png photo.png -o out --size 32"),
        ("photo.png",
            "verify base/model.h5 --against base/model.h5 --photo photo.png --html photo.png"),
        ("reference.h5",
         "verify base/iOS15.mlpackage --reference reference.h5 --html reference.h5"),
    ]
    rule = Rule((FINE, FAILED, TOLERANCE, USAGE, DATA))
    for name, line in lines:
        yield f"overlap/{label(line.replace(' ', '-'))}", rule, line.split(" "), _copies(base, name)


LINES = [
    [], ["--help", "--help"], ["nothing"], ["help", "nothing"], ["-"], ["--"], [""], ["--version",
        "x"],
    ["inspect"], ["inspect", "--unknown", "x"], ["inspect", "-o"], ["x\x1b[31m\nFORGED"],
    ["inspect", "--x\x1b[31m\nFORGED"], ["a" * 100_000], ["inspect", *["base/model.h5"] * 20_000],
    ["colorize", "base/model.h5", *["base/photo.png"] * 2, "-o", "out", "--size", "32"],
    ["average", *["base/model.h5"] * 300, "-o", "new.h5"], ["average", "base/model.h5", "-o",
        "new.h5"],
    ["export", "base/model.h5", "-o", "new.mlpackage", "--sizes", "32," * 40_000 + "32"],
    ["export", "base/model.h5", "-o", "new.mlpackage", "--sizes", "32x9223372036854775807"],
    ["export", "base/model.h5", "-o", "new.mlpackage", "--keep-float32", "*" * 5000],
    ["export", "base/model.h5", "-o", "new.mlpackage", "--precision", "float16", "--keep-float32",
     "*a" * 40 + "b"],
    ["export", "base/model.h5", "-o", "new.mlpackage", "--author", "x" * 100_000],
    ["export", "base/model.h5", "-o", "new.onnx", "--size", "32", "--opset",
     "9223372036854775807"],
    ["export", "base/model.h5", "-o", "new.onnx", "--size", "32", "--author", "x" * 100_000],
    ["export", "base/model.h5", "-o", "new.mlpackage", "--author", "x\x1b[31m\nFORGED"],
    ["export", "base/model.h5", "-o", "new.mlpackage", "--author", "\udcff"],
    ["inspect", "base/model.h5", "--json", "--json"],
    ["benchmark", "base/model.h5", "--mode", "training", "--runs", "1", "--batch", "1048576"],
    ["benchmark", "pico-unet", "--mode", "training", "--runs", "1", "--size", "1048576"],
    ["benchmark", "pico-unet", "--runs", "1", "--size", "32", "--depth", "nan"],
    ["train", "--config", "base/train.yaml", "--dry-run", "--set", "batch=4096", "data.crop=2048"],
    ["train", "--config", "base/train.yaml", "--set", "batch=4096", "data.crop=2048"],
    ["train", "--config", "base/train.yaml", "--dry-run", "--set", "data.cache_megabytes=1048576"],
    ["train", "--config", "base/train.yaml", "--dry-run", "--set", "accumulate=10000",
     "steps=10000"],
    ["train", "--config", "base/train.yaml", "--dry-run", "--set", "loss.kind=classification",
     "loss.neighbors=313", "loss.sigma=1e-30"],
]


def _environments():
    """Settings of the environment and limits of the machine that a command meets."""
    for name, value in (("HOME", ""), ("XDG_CACHE_HOME", "/dev/null"), ("XDG_CACHE_HOME", "\n\x1b"),
                        ("TMPDIR", "/nowhere"), ("LC_ALL", "x\x1b"), ("TZ", "a" * 5000),
                        ("OMP_NUM_THREADS", "-1"), ("OPENBLAS_NUM_THREADS", "9223372036854775808"),
                        ("OPENBLAS_CORETYPE", "x\x1b[31m\nFORGED"), ("COLUMNS", "-1"), ("COLUMNS",
                            "0"),
                        ("TERM", "x" * 5000), ("PATH", "")):
        yield f"environment/{name}={label(value)}", ((name, value),)


def cases(base):
    """All of these command lines."""
    made = []
    keeps = ("out", "found", "run", "lists")
    for name, text, line in _numbers():
        made.append(Case(f"option/{name}", _rule(text), tuple(line), keeps=keeps))
    for name, rule, words in _paths():
        made.append(Case(f"path/{name}", rule, tuple(words), _links, keeps=keeps))
    for name, rule, words, files in _overlaps(base):
        made.append(Case(f"path/{name}", rule, tuple(words), files, keeps=keeps))
    for line in LINES:
        made.append(Case(
            f"option/line/{label('-'.join(line))}", Rule((FINE, FAILED, USAGE, DATA)), tuple(line),
            keeps=keeps))
    for name, environment in _environments():
        made.append(Case(
            f"option/{name}", Rule((FINE, FAILED)),
            ("verify", "base/model.h5", "--against", "base/iOS15.mlpackage", "--size", "32"),
            environment=environment))
    return named_once(made)
