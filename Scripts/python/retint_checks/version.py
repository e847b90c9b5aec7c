"""Checks that the changelog's top section and the version agree.

    Scripts/check version [--changelog FILE]

The top section is either that of the version in Sources/Foundation/Files/Version.swift, with its
date, or [Unreleased]; then no section of that version may follow, because it is released. Sections
are in descending order.
"""

import pathlib
import re
import sys

import retint_options
import retint_release
from retint_tool import ROOT

SECTION = re.compile(r"^## \[(.+?)\](?: - (\S+))?$", re.MULTILINE)


def faults(version, changelog):
    """What is wrong, a line each."""
    sections = SECTION.findall(changelog)
    if not sections:
        return ["there is no section such as ## [Unreleased]"]
    released = sections[1:] if sections[0][0] == "Unreleased" else sections
    found = [f"## [{name}] must have its date: - 2026-01-31" for name, date in released
             if not re.fullmatch(r"\d{4}-\d\d-\d\d", date)]
    names = [name for name, _ in released]
    if sections[0][0] != "Unreleased" and names[0] != version:
        found.append(f"the top section is [{names[0]}], but the version is {version}")
    if sections[0][0] == "Unreleased" and names and key(names[0]) >= key(version):
        found.append(f"{names[0]} is released, so the version must be higher than {version}")
    if sorted(names, key=key, reverse=True) != names:
        found.append("the sections are not in falling order")
    return found


def key(version):
    """For comparisons; text in a version, such as that of a beta, counts less than none."""
    numbers, _, beta = version.partition("-")
    return [int(part) for part in re.findall(r"\d+", numbers)], not beta, beta


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--changelog", type=pathlib.Path, default=ROOT / "CHANGELOG.md")
    path = parser.parse_args().changelog
    found = faults(retint_release.version(), path.read_text())
    for fault in found:
        print(f"version: {path.name}: {fault}", file=sys.stderr)
    return 1 if found else 0
