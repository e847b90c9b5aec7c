"""Names of photos, folders and outputs: bytes that are not UTF-8, line breaks, and names that
Unicode calls equivalent; and lists of photos."""

import os
import shutil

from .base_files import CONFIGURATION
from .case import (
    ACCEPTED, Case, DATA, FAILED, FINE, REFUSED, Rule, USAGE, label, named_once)

# Such a photo is left out of a folder, and named; a mask of such a name is refused.
BYTES = Rule((FINE,), "is not UTF-8")
BYTES_OF_MASK = Rule((DATA,), "is not UTF-8")
TYPED = Rule((USAGE,), "is not UTF-8")
COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
# The commands that read a folder of photos, {}.
FOLDERS = {
    "colorize": "colorize base/model.h5 {} -o out --recursive --size 32",
    "inspect": "dataset inspect {}",
    "pack": "dataset pack {} -o new.h5",
    "shards": "dataset pack {} -o shards --shards 2",
    "split": "dataset split {} -o lists",
    "evaluate": "evaluate base/model.h5 --data {} --size 32 --json",
    "verify": "verify base/model.h5 --against base/model.h5 --photos {} --size 32",
    "calibrate":
        "quantize base/iOS18.mlpackage --weights int8 --threshold 0 --calibrate {} "
        "-o new.mlpackage",
    "train": "train --config file.yaml --dry-run",
    "mask": "colorize base/model.h5 base/photos -o out --size 32 --mask {}",
}
# They take each photo by its name, which may have any character.
NAMES = {
    "tab": "a\tb", "line-break": "a\nFORGED", "return": "a\r", "escape": "a\x1b[31m",
    "composed": COMPOSED, "decomposed": DECOMPOSED, "combining": "\u0301a", "joiner": "\u200da",
    "override": "\u202eab", "separator": "a\u2028FORGED", "space": " a ",
    "dash": "-o", "hash": "#a",
    "replacement": "a\ufffd", "long": "a" * 250, "glob": "[a]*?", "percent": "%s%n%00",
    "quote": "a'b\"c`d", "backslash": "a\\nb", "slash-like": "a\u2215b", "dots": "...a",
    "noncharacter": "\uffff", "unassigned": "\U000e0fff",
}


def _photos(folder, names, place="photos"):
    for index, name in enumerate(names):
        path = folder / place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / f"base/photos/photo{index % 4}.png", path)
    (folder / "file.yaml").write_bytes(os.fsencode(CONFIGURATION.replace("base/photos", place)))


def _folder_cases():
    def case(name, rule, command, names):
        line = tuple(word.format("photos") for word in FOLDERS[command].split())
        return Case(
            f"names/{command}/{name}", rule, line, lambda folder: _photos(folder, names),
            keeps=("out", "lists", "run"))

    masks = [f"photo{index}.png" for index in range(4)]
    for command in FOLDERS:
        is_mask = command == "mask"
        own = masks if is_mask else ["a.png", "b.png"]
        bytes_rule = BYTES_OF_MASK if is_mask else BYTES
        for name, other in {
            "file": "caf\udce9.png", "folder": "caf\udce9/a.png", "suffix": "caf\udce9.d/a.png",
            "truncated": "a\udcc3.png", "deep": "x/y\udcff/z/a.png",
        }.items():
            yield case(f"bytes-{name}", bytes_rule, command, [*own, other])
        yield case(
            "bytes-and-replacement", bytes_rule, command, [*own, "\udce9.png", "\ufffd.png"])
        # What is no photo may have any name.
        yield case("bytes-no-photo", ACCEPTED, command, [*own, "caf\udce9.xyz"])
        yield case("bytes-suffix-no-photo", ACCEPTED, command, [*own, "a.pn\udce9"])
        yield case("equivalent", ACCEPTED, command, [
            *own, f"{COMPOSED}.png", f"{DECOMPOSED}.png"])
        yield case("equivalent-folders", ACCEPTED, command, [
            *own, f"{COMPOSED}/a.png", f"{DECOMPOSED}/a.png"])
        yield case("combining-folder", ACCEPTED, command, [
            *own, "x/\u0301y/a.png", "x/y/a.png", "\u0301x/y/a.png"])
        for name, text in NAMES.items():
            # A list has a line for each path.
            breaks = command == "split" and "\n" in text
            rule = Rule((DATA,), "line break") if breaks else ACCEPTED
            yield case(name, rule, command, [*own, f"{text}.png"])


def _single_cases():
    """Names that are typed, and the current folder."""
    for name in ("\udce9", "\udce9.png", "x/\udce9.png", "\udcff/x.png"):
        for line in ("colorize base/model.h5 {} -o out",
                     "colorize base/model.h5 base/photo.png -o {}",
                     "export base/model.h5 -o {}", "dataset pack base/photos -o {}",
                     "dataset pack {} -o new.h5", "evaluate base/model.h5 --data {}",
                     "verify base/model.h5 --against base/model.h5 --photos {}",
                     "train --config base/train.yaml --output {}", "inspect {}",
                     "train --config base/train.yaml --dry-run --set data.train={}"):
            words = tuple(word.format(name) for word in line.split())
            yield Case(
                f"names/typed/{label('-'.join(words[:2]))}-{label(ascii(name))}", TYPED, words,
                lambda folder: _photos(folder, ["a.png"]))
    here = "here\udce9"

    def inside(folder):
        (folder / here).mkdir()
        _photos(folder, ["a.png", "b.png"], f"{here}/photos")
        (folder / here / "base").symlink_to("../base")
        (folder / here / "file.yaml").write_text(CONFIGURATION)

    lines = {
        "inspect": ("inspect base/model.h5", ACCEPTED),
        "evaluate": ("evaluate base/model.h5 --data photos --size 32", ACCEPTED),
        "colorize": ("colorize base/model.h5 photos -o out --size 32", None),
        "export": ("export base/model.h5 -o new.mlpackage --size 32", None),
        "pack": ("dataset pack photos -o new.h5", None),
        "split": ("dataset split photos -o lists", None),
        "video": ("video base/model.h5 base/video.y4m -o new.mp4 --size 32", None),
        "train": ("train --config file.yaml", None),
        "resume": ("train --config file.yaml --resume", Rule((FAILED, DATA, USAGE))),
        "verify": ("verify base/model.h5 --against base/model.h5 --size 32 --save r.json", None),
        "replay": ("replay base/results.json", Rule((FINE, FAILED, DATA))),
    }
    for name, (line, rule) in lines.items():
        yield Case(
            f"names/current/{name}", rule or Rule((FAILED, DATA), "is not UTF-8"),
            tuple(line.split()), inside, keeps=(here,), place=here)


LISTS = {
    "bytes": (b"photos/a.png\nphotos/caf\xe9.png\n", Rule((DATA,), "line 2 is not UTF-8")),
    "bytes-comment": (b"# caf\xe9\nphotos/a.png\n", ACCEPTED),
    "bom": (b"\xef\xbb\xbfphotos/a.png\n", Rule((FINE, FAILED, DATA))),
    "utf16": ("photos/a.png\n".encode("utf-16"), Rule((FAILED, DATA))),
    "returns": (b"photos/a.png\r\nphotos/b.png\r\n", ACCEPTED),
    "only-returns": (b"photos/a.png\rphotos/b.png\r", Rule((FAILED, DATA))),
    "empty": (b"", REFUSED), "breaks": (b"\n" * 1_000_000, REFUSED),
    "comments": (b"#\n" * 1_000_000, REFUSED), "nul": (b"photos/a\0.png\n", Rule((FAILED, DATA))),
    "device": (b"/dev/zero\n", Rule((FAILED, DATA))), "folder": (b"photos\n", Rule((FAILED, DATA))),
    "itself": (b"list.txt\n", Rule((FAILED, DATA))), "stdin": (b"-\n", Rule((FAILED, DATA))),
    "pipe": (b"pipe.png\n", Rule((FAILED, DATA))),
    "missing": (b"photos/a.png\nnowhere.png\n", Rule((FINE, FAILED, DATA))),
    "memory": (b"/proc/self/mem\n", Rule((FAILED, DATA))),
    "parents": (b"photos/../photos/a.png\n", ACCEPTED), "root": (b"/\n", Rule((FAILED, DATA))),
    "escape": (b"a\x1b[31m.png\nFORGED.png\n", Rule((FAILED, DATA))),
    "long": (b"a" * 1_000_000 + b"\n", Rule((FAILED, DATA))),
    "repeated": (b"photos/a.png\n" * 30, ACCEPTED), "spaces": (b"   \n \t\n", Rule((FAILED, DATA))),
    "equivalent": (f"photos/{COMPOSED}.png\nphotos/{DECOMPOSED}.png\n".encode(), ACCEPTED),
    "combining": ("/\u0301nowhere.png\n".encode(), Rule((FAILED, DATA), "/\u0301nowhere.png")),
    "last-line": (b"photos/a.png", ACCEPTED), "url": (b"file:///photos/a.png\n",
                                                     Rule((FAILED, DATA))),
}


def _list_cases():
    for name, (content, rule) in LISTS.items():
        def write(folder, content=content):
            _photos(folder, ["a.png", "b.png", f"{COMPOSED}.png", f"{DECOMPOSED}.png"])
            (folder / "list.txt").write_bytes(content)
            (folder / "file.yaml").write_text(CONFIGURATION.replace("base/photos", "list.txt"))
            os.mkfifo(folder / "pipe.png")

        for command in ("inspect", "pack", "evaluate", "train"):
            line = tuple(word.format("list.txt") for word in FOLDERS[command].split())
            # An inspection counts photos that cannot be read; a rehearsal may not need them.
            own = rule
            if command in ("inspect", "train") and rule.codes != (DATA,) and rule != REFUSED:
                own = Rule((FINE, FAILED, DATA))
            yield Case(f"list/{command}/{name}", own, line, write, keeps=("run",))


def cases(base):
    """All of these names and lists."""
    return named_once([*_folder_cases(), *_single_cases(), *_list_cases()])
