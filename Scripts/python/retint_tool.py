"""Finds retint and runs it: the executable is $RETINT, or that of the release build."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RETINT = os.environ.get("RETINT") or str(ROOT / ".build/release/retint")


def run(*arguments, tool=RETINT, status=(0,)):
    """Runs retint and returns its standard output; exits if the status is an unexpected one."""
    command = [str(word) for word in (tool, *arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in status:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def report(*arguments, **options):
    """What a command reports with --json."""
    return json.loads(run(*arguments, "--json", **options))


def cpu():
    """The name of this machine's processor."""
    with open("/proc/cpuinfo", encoding="utf8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return "unknown CPU"
