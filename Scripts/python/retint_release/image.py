"""Carries out Scripts/packaging/Containerfile in a bare Debian, as a container engine would: no
engine is needed to know whether its instructions work."""

import dataclasses
import json
import re
import shutil

from retint_release import PACKAGING, bare_debian, fail

BIND = re.compile(r"--mount=type=bind,target=(/\S+) ")


@dataclasses.dataclass
class Image:
    """A folder that has an image's files, and the image's settings."""

    root: object
    environment: dict = dataclasses.field(default_factory=dict)
    folder: str = "/"
    entry_point: tuple = ()

    def run(self, *command):
        bare_debian.run(self.root, self.folder, *command, **self.environment)


def build(root, context):
    """The image of the instructions, made in the Debian `root` with the files of `context`."""
    image = Image(root)
    for name, text in instructions():
        match name:
            case "FROM":
                # The Debian stands for it: it has Python as well.
                if not text.startswith("python:"):
                    fail(f"Containerfile: FROM {text}: expected an image with Python")
            case "RUN":
                run(image, text, context)
            case "ENV":
                image.environment |= [text.split("=", 1)]
            case "WORKDIR":
                image.folder = text
                (root / text.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "ENTRYPOINT":
                image.entry_point = tuple(json.loads(text))
            case _:
                fail(f"Containerfile: {name} is not carried out by this check")
    return image


def instructions():
    for line in (PACKAGING / "Containerfile").read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split(" ", 1)


def run(image, text, context):
    bind = BIND.match(text)
    if not bind:
        return image.run("sh", "-c", text)
    place = image.root / bind[1].lstrip("/")
    shutil.copytree(context, place, dirs_exist_ok=True)
    try:
        image.run("sh", "-c", text[bind.end():])
    finally:
        shutil.rmtree(place)
