"""The release build that tests, checks and examples share."""

import functools
import json
import os
import pathlib
import subprocess
import sys

from retint_tool import ROOT

# The index is for `Scripts/check unused`; with this variable set, there is none.
WITHOUT_INDEX = "RETINT_BUILD_WITHOUT_INDEX"
INDEX = "--enable-index-store"
FLAGS = ["-c", "release", "-Xswiftc", "-enable-testing",
         *([] if os.environ.get(WITHOUT_INDEX) else [INDEX])]
# Of another package that uses this build's folder, and so its modules. Without the last option,
# Swift may take the plan of the package that was built there before, and finds none of this
# package's targets in it.
SHARED = ["--scratch-path", str(ROOT / ".build"), *FLAGS, "--disable-build-manifest-caching"]


def leave_out_index():
    """Builds without the index from now on, in other processes too: an eighth less to compile."""
    os.environ[WITHOUT_INDEX] = "1"
    for flags in (FLAGS, SHARED):
        if INDEX in flags:
            flags.remove(INDEX)


def swift(command, *arguments, **options):
    """Runs `swift COMMAND` in the checkout; raises an exception if it fails."""
    return subprocess.run(
        ["swift", command, *map(str, arguments)], cwd=ROOT, check=True, **options)


def build(*arguments):
    """Runs `swift build`; what it prints are messages."""
    swift("build", *arguments, stdout=sys.stderr)


@functools.cache
def targets():
    """The package's targets by name, as `swift package describe` reads Package.swift."""
    done = swift("package", "describe", "--type", "json", capture_output=True, text=True)
    return {target["name"]: target for target in json.loads(done.stdout)["targets"]}


def products(folder=ROOT / ".build"):
    """The folder with the executables and the modules of a release build."""
    return pathlib.Path(os.path.realpath(folder / "release"))


def is_built():
    """Whether the release build is as new as the sources, with whatever flags it was built."""
    tool = products() / "retint"
    if not tool.exists():
        return False
    sources = [path for path in (ROOT / "Sources").rglob("*")
               if path.suffix in (".swift", ".c", ".h")]
    newest = max(path.stat().st_mtime for path in [ROOT / "Package.swift", *sources])
    return newest <= tool.stat().st_mtime


def module_flags():
    """What a compiler needs to import the modules of the release build."""
    folder = products()
    flags = ["-I", folder / "Modules"]
    for library in sorted((ROOT / "Sources").rglob("module.modulemap")):
        if library.parent.name != "include":
            flags += ["-I", library.parent]
    maps = [*folder.glob("*.build/module.modulemap"),
            *ROOT.glob(".build/checkouts/*/Sources/*/include/module.modulemap")]
    for path in maps:
        flags += ["-Xcc", f"-fmodule-map-file={path}"]
    done = subprocess.run(
        ["pkg-config", "--cflags", "hdf5", "openblas"], check=True, capture_output=True, text=True)
    for flag in done.stdout.split():
        flags += ["-Xcc", flag]
    return [str(flag) for flag in flags]
