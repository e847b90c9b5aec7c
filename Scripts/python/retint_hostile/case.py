"""A case: the input files, the command line, and the expected end."""

import dataclasses
from typing import Callable

FINE, FAILED, TOLERANCE, USAGE, DATA = 0, 1, 2, 64, 65


@dataclasses.dataclass(frozen=True)
class Rule:
    """The exit codes that are right, and a word that standard error must contain."""

    codes: tuple
    word: str = ""


# What a file holds is refused.
REFUSED = Rule((DATA,))
# What the user typed is refused.
MISUSE = Rule((USAGE,))
# What the user typed or names is refused: the option is wrong, or it names something unreadable.
REJECTED = Rule((USAGE, DATA))
# Odd, and legitimately fine.
ACCEPTED = Rule((FINE,))
# Some of these numbers are legitimate; those that are not are refused for what the file holds.
TOLERATED = Rule((FINE, TOLERANCE, DATA))
# Some of these numbers are legitimate; those that are not are refused as typed.
OPTIONAL = Rule((FINE, TOLERANCE, USAGE))
# The output cannot be written.
UNWRITABLE = Rule((FAILED,))


@dataclasses.dataclass(frozen=True)
class Case:
    """One run of retint in a folder of its own, in which `base` leads to the shared files."""

    # Area, subject and value, such as package/conv/strides=0.
    name: str
    rule: Rule
    # The arguments of retint; paths are relative to the case's folder.
    command: tuple
    # Writes the files of the case into its folder.
    files: Callable = lambda folder: None
    # The file for standard input, relative to the folder; none if empty.
    stdin: str = ""
    # Names that may be there after a failure, such as the folder of a training or the readable
    # part of a video.
    keeps: tuple = ()
    # The folder in the case's own in which retint runs.
    place: str = ""
    # Variables of the environment, as pairs of name and value.
    environment: tuple = ()
    # The time that it may take, in seconds.
    seconds: int = 10
    # Limits of the address space and of the size of a file in bytes; by default far above what is
    # measured, to keep a runaway process from exhausting the machine.
    address_space: int = 8 << 30
    file_size: int = 2 << 30


def label(value):
    """A value as part of a name: short, without spaces and control characters."""
    text = value if isinstance(value, str) else repr(value)
    text = "".join(c if c.isprintable() and c not in " /" else "_" for c in text)
    return text if len(text) <= 40 else f"{text[:30]}…{len(text)}"


def named_once(cases):
    """The cases, with a number after the names of those that would share one."""
    seen = {}
    result = []
    for case in cases:
        count = seen[case.name] = seen.get(case.name, 0) + 1
        result.append(
            case if count == 1 else dataclasses.replace(case, name=f"{case.name}#{count}"))
    return result
