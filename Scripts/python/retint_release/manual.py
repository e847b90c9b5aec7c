"""Manual pages, from the program's help about its commands.

`retint.1` names the commands; each has a page of its own, which `man retint train` finds.
"""

import json
import time

from retint_release import output, timestamp, version

EXIT_STATUS = [
    ("0", "Done."), ("1", "Failed."), ("2", "A tolerance is exceeded."), ("64", "Wrong usage."),
    ("65", "Bad input data."), ("130", "Interrupted; the state is saved."),
]
ENVIRONMENT = [
    ("RETINT_MPI_LIBRARY",
     "The library that connects retint to the machine's MPI. By default, libretint-mpi.so beside "
     "the program or in ../lib."),
    ("OPENBLAS_CORETYPE", "The kind of processor whose kernels OpenBLAS uses, such as Haswell."),
    ("XDG_CACHE_HOME", "The folder of retint/kernels.json, in which benchmark --tune keeps the "
     "fastest algorithms; by default ~/.cache."),
]


def write(program, folder):
    """Writes the pages of a program."""
    folder.mkdir(parents=True)
    root = json.loads(output(program, "--experimental-dump-help"))["command"]
    commands = [one for one in root["subcommands"] if one["commandName"] != "help"]
    (folder / "retint.1").write_text(root_page(root, commands))
    for command in commands:
        name = f"retint-{command['commandName']}"
        (folder / f"{name}.1").write_text(command_page(name, command))


def root_page(root, commands):
    lines = [
        *header("retint", root["abstract"]),
        ".SH SYNOPSIS", r".B retint", r".I command", r".RI [ arguments ]",
        *described(root), ".SH COMMANDS",
    ]
    for command in commands:
        name = command["commandName"]
        lines += [".TP", rf".BR retint\-{escaped(name)} (1)", paragraph(command["abstract"])]
    lines += options(root)
    for title, rows in (("EXIT STATUS", EXIT_STATUS), ("ENVIRONMENT", ENVIRONMENT)):
        lines.append(f".SH {title}")
        for name, text in rows:
            lines += [".TP", rf".B {escaped(name)}", paragraph(text)]
    return page(lines)


def command_page(name, command):
    lines = [*header(name, command["abstract"]), ".SH SYNOPSIS"]
    parts = [one for one in command.get("subcommands", []) if one["commandName"] != "help"]
    lines += synopsis(command) if not parts else []
    for part in parts:
        lines += ([] if part is parts[0] else [".br"]) + synopsis(part)
    lines += described(command)
    for part in parts:
        title = f"{command['commandName']} {part['commandName']}"
        lines += [f".SH {escaped(title.upper())}", paragraph(part["abstract"])]
        if part.get("discussion"):
            lines += [".PP", paragraph(part["discussion"])]
        lines += entries(part.get("arguments", []))
    lines += [] if parts else options(command)
    return page([*lines, ".SH SEE ALSO", ".BR retint (1)"])


def header(name, abstract):
    date = time.strftime("%Y-%m-%d", time.gmtime(timestamp()))
    title = escaped(name)
    return [
        f'.TH {title.upper()} 1 "{date}" "retint {version()}" "retint manual"',
        ".SH NAME", rf"{title} \- {escaped(abstract.rstrip('.'))}",
    ]


def synopsis(command):
    """The command with its required arguments, and with those that go without a name."""
    names = [*command.get("superCommands", []), command["commandName"]]
    words = [rf"\fB{escaped(' '.join(names))}\fR", r"[\fIoptions\fR]"]
    for argument in shown(command.get("arguments", [])):
        if argument["kind"] == "positional" or is_required(argument):
            words.append(usage(argument))
    return [" ".join(words)]


def is_required(argument):
    return not argument["isOptional"]


def usage(argument):
    """`--output <output>`, `[photo …]`."""
    text = signature(argument, names=[argument["preferredName"]] if "names" in argument else None)
    text += r"\ .\|.\|." if argument["isRepeating"] else ""
    return text if is_required(argument) else f"[{text}]"


def described(command):
    discussion = command.get("discussion")
    return [".SH DESCRIPTION", paragraph(discussion or command["abstract"])]


def options(command):
    """The arguments, in the sections of the help."""
    sections = {}
    for argument in command.get("arguments", []):
        title = argument.get("sectionTitle") or (
            "Arguments" if argument["kind"] == "positional" else "Options")
        sections.setdefault(title, []).append(argument)
    lines = []
    for title, arguments in sections.items():
        lines += [f".SH {escaped(title.upper())}", *entries(arguments)]
    return lines


def entries(arguments):
    lines = []
    for argument in arguments:
        lines += [".TP", signature(argument)]
        lines.append(paragraph(explained(argument)))
    return lines


def shown(arguments):
    return [argument for argument in arguments if argument["shouldDisplay"]]


def signature(argument, names=None):
    """`-o, --output <output>`, with names in bold and values in italics."""
    value = rf"\fI{escaped(argument.get('valueName', ''))}\fR"
    if argument["kind"] == "positional":
        return value
    names = names or argument["names"]
    text = ", ".join(rf"\fB{escaped(dashed(name))}\fR" for name in names)
    return text if argument["kind"] == "flag" else f"{text} {value}"


def dashed(name):
    return ("--" if name["kind"] == "long" else "-") + name["name"]


def explained(argument):
    """The help of an argument, with its values and its default."""
    notes = []
    values = argument.get("allValues")
    if values:
        notes.append(f"values: {', '.join(values)}")
    if argument.get("defaultValue") and argument["kind"] != "flag":
        notes.append(f"default: {argument['defaultValue']}")
    text = " ".join(filter(None, [argument.get("abstract"), argument.get("discussion")]))
    return f"{text} ({'; '.join(notes)})" if notes else text


def paragraph(text):
    """The text's own lines; a line must not begin like a request."""
    lines = [escaped(line.strip()) for line in text.strip().splitlines() if line.strip()]
    return "\n".join(("\\&" if line[:1] in (".", "'") else "") + line for line in lines) or "\\&"


def escaped(text):
    """Hyphens of options stay what they are, so that they can be copied."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")


def page(lines):
    # What is not ASCII, by its number: old versions of groff read nothing else.
    text = "\n".join(lines) + "\n"
    return "".join(one if one < "\x7f" else f"\\[u{ord(one):04X}]" for one in text)
