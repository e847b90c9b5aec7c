"""The licenses of a release's contents, from their origins."""

import json
import pathlib
import re

from retint_release import fail, output

HEAD = """\
# Components

The program contains these, or has them beside it, each under its own license. retint itself is
under Apache-2.0.

| component | version | license |
| --- | --- | --- |
"""
NAMES = re.compile(r"(LICEN[CS]E|NOTICE|COPYING)([-.].*)?", re.IGNORECASE)


def write(folder, libraries, build):
    """Writes the text of each license, and a list of the components."""
    folder.mkdir(parents=True)
    components = sorted({
        *debian_components(folder, libraries), *swift_components(folder),
        *package_components(folder, build)})
    rows = "".join(f"| {name} | {version} | {file} |\n" for name, version, file in components)
    (folder / "README.md").write_text(HEAD + rows)


def debian_components(folder, libraries):
    """The libraries' source packages; Debian keeps their licenses in /usr/share/doc."""
    for library in libraries:
        package = output("dpkg-query", "--search", library.path).split(": ")[0].split(",")[0]
        source, version = output(
            "dpkg-query", "--show", "--showformat", "${source:Package} ${source:Version}",
            package).split()
        yield source, version, copy(
            pathlib.Path("/usr/share/doc", package.split(":")[0], "copyright"), folder, source)


def swift_components(folder):
    """Swift's runtime and Foundation, which contains ICU."""
    info = json.loads(output("swift", "-print-target-info"))
    resources = pathlib.Path(info["paths"]["runtimeResourcePath"])
    version = re.search(r"Swift version (\S+)", info["compilerVersion"]).group(1)
    yield "swift", version, copy(resources.parents[1] / "share/swift/LICENSE.txt", folder, "swift")
    copyrights = sorted(pathlib.Path("/usr/share/doc").glob("libicu[0-9]*/copyright"))
    if not copyrights:
        fail("there is no license of ICU, which is part of Foundation: install Debian's libicu")
    yield "icu", f"of Swift {version}", copy(copyrights[0], folder, "icu")


def package_components(folder, build):
    """The Swift packages that retint depends on."""
    state = json.loads((build / "workspace-state.json").read_text())["object"]
    for dependency in state["dependencies"]:
        checkout = dependency["state"].get("checkoutState")
        if checkout is None:
            continue  # A folder: a package that uses retint was built here.
        name = dependency["subpath"]
        files = sorted(
            path for path in (build / "checkouts" / name).iterdir() if NAMES.fullmatch(path.name))
        if not files:
            fail(f"{build}/checkouts/{name}: there is no license")
        text = "\n\n".join(path.read_text() for path in files)
        (folder / f"{name}.txt").write_text(text)
        yield name, checkout["version"], f"{name}.txt"


def copy(path, folder, name):
    if not path.exists():
        fail(f"{path}: there is no license of {name}")
    (folder / f"{name}.txt").write_bytes(path.read_bytes())
    return f"{name}.txt"
