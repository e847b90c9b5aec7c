"""The table of wrong numbers where others read it: in Swift and in the article."""

import sys

import retint_tables
from retint_tool import ROOT

SWIFT = ROOT / "Sources/Tasks/DeviceRules/ConverterFaults+Table.swift"
ARTICLE = ROOT / "Sources/Retint/Retint/Retint.docc/Reference/ConverterFaults.md"
COMMAND = "Scripts/check oracle --update"
COLUMNS = 100


def publish(table, writes):
    """Whether the Swift source and the article have the table; with `writes`, after writing it."""
    source, place = swift(table), SWIFT.relative_to(ROOT)
    if writes:
        SWIFT.write_text(source)
    agrees = SWIFT.exists() and SWIFT.read_text() == source
    if not agrees:
        print(f"{place}: the table is out of date; run {COMMAND}", file=sys.stderr)
    for name, text in (("counts", counts(table)), ("faults", faults(table))):
        agrees &= retint_tables.in_article(ARTICLE, name, text, writes, COMMAND)
    return agrees


def swift(table):
    lines = [
        f"/// The faults that `Scripts/oracle` measured; `{COMMAND}` writes them.",
        "extension ConverterFault {", "    /// All faults, by converter.",
        "    public static let all = ["]
    for fault in table["faults"]:
        versions = ", ".join(literal(version) for version in extent(fault))
        lines += ["        ConverterFault(", f"            id: {literal(fault['id'])},",
                  f"            converter: {literal(fault['converter'])},",
                  f"            versions: [{versions}],"]
        texts = ("operation", "condition", "consequence", "advice")
        for index, name in enumerate(texts):
            end = ")," if index + 1 == len(texts) else ","
            lines += wrapped(f"            {name}: ", fault[name], end)
    return "\n".join([*lines, "    ]", "}", ""])


def extent(fault):
    """The first and the last version."""
    versions = fault["versions"]
    return list(dict.fromkeys([versions[0], versions[-1]]))


def literal(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def wrapped(start, text, end):
    """A text as one literal, or as several that are added, in lines that are short enough."""
    if len(start + literal(text) + end) <= COLUMNS:
        return [start + literal(text) + end]
    parts, part, width = [], "", COLUMNS - 16 - 6
    for word in text.split(" "):
        if len(literal(part + word)) > width:
            parts.append(part)
            part = ""
        part += word + " "
    parts.append(part.rstrip())
    pieces = [literal(part) for part in parts]
    return [start.rstrip(), *(f"                {'+ ' if index else ''}{piece}" for index, piece in
                              enumerate(pieces[:-1])), f"                + {pieces[-1]}{end}"]


def counts(table):
    """How many cases of each kind of file are right, wrong, refused and not read."""
    return retint_tables.markdown(
        ["converter", "version", "file", "right", "wrong", "refused", "not read"],
        ([row["converter"], row["version"], row["kind"], row["right"], row["wrong"],
          row["refused"], row["unread"] + row["ours"]] for row in table["counts"]), left=3)


def faults(table):
    """The faults, with the number of cases that show each."""
    cases = {}
    for kinds in table["wrong"].values():
        for fault, names in kinds.items():
            cases.setdefault(fault, set()).update(names)
    return retint_tables.markdown(
        ["converter", "versions", "operation", "condition", "what comes out", "cases"],
        ([fault["converter"], ", ".join(fault["versions"]), f"`{fault['operation']}`",
          fault["condition"], fault["consequence"], len(cases[fault["id"]])]
         for fault in table["faults"]), left=5)
