"""Relinks the release build's objects, so that the program runs without Swift and Debian.

Swift's runtime and every library that has a static form become part of the program. Libraries that
Debian has only as shared ones are copied beside it. The objects are those of the ordinary build:
this takes seconds where another build would take minutes.
"""

import json
import pathlib
import re
import shutil
import typing

from retint_release import fail, output

# What retint uses, and what that uses in turn.
LIBRARIES = (
    "hdf5", "sz", "aec", "openblas", "crypto", "jpeg", "png", "png16", "webp", "sharpyuv", "lcms2",
    "z", "stdc++")
# On every system with glibc.
SYSTEM = re.compile(r"(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so(\.\d+)*")
# Where the program finds the shared libraries; a folder of its own, so that a release unpacked into
# /usr/local hides no library from other programs.
FOLDER = "lib/retint"


class Library(typing.NamedTuple):
    """A library of the system that is in a release."""
    path: pathlib.Path
    # The name under which the program looks for it; None if it is part of the program.
    soname: str | None


def link(build, program):
    """Links `program` of the objects in a build folder; returns the libraries that it needs."""
    archives = static_libraries()
    folder = program.with_name(program.name + ".libraries")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in archives:
        (folder / path.name).symlink_to(path)
    extra = [f"-l{name}" for name in ("sz", "aec") if (folder / f"lib{name}.a").exists()]
    command = link_command(build)
    output(
        command[0], "-L", folder, *without_destination(command[1:]), *extra, "-o", program,
        "-static-stdlib", "-use-ld=lld", "-Xclang-linker", "-static-libgcc", *foundation(),
        # For a library's own dependencies too, unlike a run path of the newer kind.
        *linker("-rpath", f"$ORIGIN/../{FOLDER}", "--disable-new-dtags", "--strip-all"))
    shutil.rmtree(folder)
    return [Library(path.resolve(), None) for path in archives] + shared_libraries(program)


def foundation():
    """Foundation's parts, which objects compiled for the shared Foundation do not name."""
    info = json.loads(output("swift", "-print-target-info"))
    folder = pathlib.Path(info["paths"]["runtimeResourcePath"]).parent / "swift_static/linux"
    archives = [*folder.glob("lib*Foundation*.a")]
    unused = ("Networking", "XML")
    return [f"-l{path.stem[3:]}" for path in sorted(archives) if not path.stem.endswith(unused)]


def static_libraries():
    """The libraries that have a static form."""
    words = output("pkg-config", "--libs-only-L", "hdf5", "openblas").split()
    found = (static_library(name, [word[2:] for word in words]) for name in LIBRARIES)
    return [path for path in found if path]


def static_library(name, folders):
    for folder in folders:
        path = pathlib.Path(folder, f"lib{name}.a")
        if path.exists():
            return path
    path = pathlib.Path(output("clang", f"-print-file-name=lib{name}.a").strip())
    return path if path.is_absolute() else None


def link_command(build):
    """The words of the command by which SwiftPM linked the program."""
    manifest = build / "release.yaml"
    if not manifest.exists():
        fail(f"{manifest}: there is no release build; run swift build -c release --product retint")
    found = re.search(
        r'^  "C\.retint-[^"]*\.exe":\n(?:    .*\n)*?    args: (\[.*\])$', manifest.read_text(),
        re.MULTILINE)
    if not found:
        fail(f"{manifest}: no command links retint; this version of SwiftPM writes another form")
    return json.loads(found.group(1))


def without_destination(words):
    """The words without the output and the run path, which are others in a release."""
    result, rest = [], iter(words)
    for word in rest:
        if word == "-o":
            next(rest)
        elif word == "-Xlinker":
            word = next(rest)
            result += [] if word.startswith("-rpath=") else linker(word)
        else:
            result.append(word)
    return result


def linker(*words):
    return [part for word in words for part in ("-Xlinker", word)]


def shared_libraries(program):
    """What the program needs beside itself, and what that needs in turn."""
    found = []
    for line in output("ldd", program).splitlines():
        soname, _, place = line.strip().partition(" => ")
        if not place or SYSTEM.fullmatch(soname):
            continue
        path = place.split(" (")[0]
        if not path.startswith("/"):
            fail(f"{program}: {line.strip()}")
        found.append(Library(pathlib.Path(path).resolve(), soname))
    return found
