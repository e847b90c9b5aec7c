"""Relinks the release build's objects, so that retint runs without Swift and Debian.

All of it becomes one library, with Swift's runtime and every library that has a static form; the
program and Python's module use it. Libraries that Debian has only as shared ones are copied beside
it. The objects are those of the ordinary build:
this takes seconds where another build would take minutes.
"""

import json
import pathlib
import re
import tempfile
import typing

from retint_release import PACKAGING, fail, icu, output

# What retint uses, and what that uses in turn.
LIBRARIES = (
    "hdf5", "sz", "aec", "openblas", "crypto", "jpeg", "png", "png16", "webp", "sharpyuv", "lcms2",
    "z", "stdc++")
# OpenBLAS has kernels for each kind of processor, 1 to 1.6 MB each. These are left out: they have
# the instructions of another kind, whose kernels are the same for what retint multiplies, or are
# of processors without AVX2, where OpenBLAS computes the least.
SAME_KERNELS = {
    "PRESCOTT": ("OPTERON", "OPTERON_SSE3", "BARCELONA", "BOBCAT", "ATOM", "NANO", "CORE2",
                 "PENRYN", "DUNNINGTON", "NEHALEM"),
    "SANDYBRIDGE": ("BULLDOZER", "PILEDRIVER", "STEAMROLLER", "EXCAVATOR"),
    "HASWELL": ("ZEN",), "SKYLAKEX": ("COOPERLAKE",),
}
# Tables for unwinding the stack, 8 MB: neither Swift nor the libraries throw C++ exceptions, and
# there are no symbols that a debugger could name in a stack.
WITHOUT_UNWINDING = (
    "SECTIONS { /DISCARD/ : { *(.eh_frame) *(.eh_frame_hdr) } } INSERT AFTER .text;\n")
# On every system with glibc.
SYSTEM = re.compile(r"(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so(\.\d+)*")
# Where the program finds the shared libraries; a folder of its own, so that a release unpacked into
# /usr/local hides no library from other programs.
FOLDER = "lib/retint"
# All of retint: the program and Python's module share it.
LIBRARY = "libretint.so"


class Library(typing.NamedTuple):
    """A library of the system that is in a release."""
    path: pathlib.Path
    # The name under which the program looks for it; None if it is part of the program.
    soname: str | None


def link(build, tree):
    """Links the library and the program of the objects in a build folder.

    Returns the libraries that they need.
    """
    library, program = tree / FOLDER / LIBRARY, tree / "bin/retint"
    for path in (library, program):
        path.parent.mkdir(parents=True)
    archives = static_libraries()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for path in archives:
            (folder / path.name).symlink_to(path)
        script = folder / "without-unwinding.ld"
        script.write_text(WITHOUT_UNWINDING)
        extra = [f"-l{name}" for name in ("sz", "aec") if (folder / f"lib{name}.a").exists()]
        streams = folder / "streams.o"
        output("clang", "-O2", "-fPIC", "-c", PACKAGING / "streams.c", "-o", streams)
        command = link_command(build)
        output(
            command[0], "-L", folder, *without_destination(command[1:]), *extra, streams,
            icu.object_file(foundation_folder() / "lib_FoundationICU.a", folder),
            "-o", library, "-static-stdlib", "-use-ld=lld", "-Xclang-linker", "-static-libgcc",
            *foundation(), *same_kernels(), *linker("-T", str(script), "--no-eh-frame-hdr"),
            # For a library's own dependencies too, unlike a run path of the newer kind.
            *linker("-rpath", "$ORIGIN", "--disable-new-dtags", "--strip-all", "-soname", LIBRARY))
    output(
        "clang", "-O2", PACKAGING / "launcher.c", library, "-o", program,
        f"-Wl,-rpath,$ORIGIN/../{FOLDER},--disable-new-dtags,--strip-all")
    return [Library(path.resolve(), None) for path in archives] + shared_libraries(library)


def foundation():
    """Foundation's parts, which objects compiled for the shared Foundation do not name."""
    archives = [*foundation_folder().glob("lib*Foundation*.a")]
    unused = ("Networking", "XML")
    return [f"-l{path.stem[3:]}" for path in sorted(archives) if not path.stem.endswith(unused)]


def foundation_folder():
    info = json.loads(output("swift", "-print-target-info"))
    return pathlib.Path(info["paths"]["runtimeResourcePath"]).parent / "swift_static/linux"


def same_kernels():
    """Options that give OpenBLAS's tables of kernels several names."""
    return [word for table, others in SAME_KERNELS.items() for other in others
            for word in linker(f"--defsym=gotoblas_{other}=gotoblas_{table}")]


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
    """The words of the command by which SwiftPM linked the library."""
    manifest = build / "release.yaml"
    if not manifest.exists():
        fail(f"{manifest}: there is no release build; run swift build -c release --product RetintC")
    found = re.search(
        r'^  "C\.RetintC-[^"]*\.dylib":\n(?:    .*\n)*?    args: (\[.*\])$', manifest.read_text(),
        re.MULTILINE)
    if not found:
        fail(f"{manifest}: no command links RetintC; this version of SwiftPM writes another form")
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


def shared_libraries(library):
    """What the library needs beside itself, and what that needs in turn."""
    found = []
    for line in output("ldd", library).splitlines():
        soname, _, place = line.strip().partition(" => ")
        if not place or SYSTEM.fullmatch(soname):
            continue
        path = place.split(" (")[0]
        if not path.startswith("/"):
            fail(f"{library}: {line.strip()}")
        found.append(Library(pathlib.Path(path).resolve(), soname))
    return found
