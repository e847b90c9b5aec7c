"""Tables: as Markdown, in articles between two marks, and in columns for a terminal."""

import re
import sys

from retint_tool import ROOT


def header(columns, left=None):
    """The two lines at the top of a Markdown table.

    The first `left` columns are aligned left and the others right; all of them left by default.
    """
    left = len(columns) if left is None else left
    return f"{row(columns)}\n|{'---|' * left}{'---:|' * (len(columns) - left)}"


def row(cells):
    """A line of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def markdown(columns, rows, left=None):
    """A whole Markdown table."""
    return "\n".join([header(columns, left), *map(row, rows)])


def aligned(rows, left=1):
    """Lines of columns of one width each; the first `left` are aligned left, the others right."""
    rows = [[str(cell) for cell in cells] for cells in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for cells in rows:
        padded = [
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths))]
        yield "  ".join(padded).rstrip()


def in_article(path, name, table, writes, command):
    """Whether an article has a table between `<!-- NAME:begin -->` and `<!-- NAME:end -->`.

    With `writes`, it is written there first. Otherwise a fault is printed, which says what command
    writes it.
    """
    text = path.read_text()
    marks = re.compile(rf"(<!-- {name}:begin -->\n\n).*?(<!-- {name}:end -->)", re.DOTALL)
    new, count = marks.subn(lambda match: f"{match[1]}{table.strip()}\n\n{match[2]}", text)
    place = path.relative_to(ROOT)
    if count != 1:
        print(f"{place} has no <!-- {name}:begin --> … <!-- {name}:end -->", file=sys.stderr)
        return False
    if writes:
        path.write_text(new)
    elif new != text:
        print(f"{place}: the table {name} is out of date; run {command}", file=sys.stderr)
    return writes or new == text
