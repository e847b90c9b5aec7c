"""Makes packages for installing without Swift: a tarball and a Python wheel (Scripts/release)."""

import functools
import os
import platform
import re
import subprocess
import sys

from retint_tool import ROOT

# The names and texts that only releases have.
PACKAGING = ROOT / "Scripts/packaging"
ARCHITECTURE = platform.machine()


def fail(message):
    sys.exit(f"release: {message}")


def output(*command, **options):
    """What a command prints; exits with its message if it fails."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        fail(f"{' '.join(command)}\n{done.stderr}{done.stdout}")
    return done.stdout


def version():
    """retint's version, from the one line of the sources that states it."""
    source = ROOT / "Sources/Foundation/Files/Version.swift"
    found = re.search(r'^public let retintVersion = "(.+)"$', source.read_text(), re.MULTILINE)
    return found.group(1) if found else fail(f"{source}: no line states the version")


@functools.cache
def timestamp():
    """The time that all files of a release have: $SOURCE_DATE_EPOCH, or that of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or output("git", "log", "-1", "--format=%ct", cwd=ROOT))
