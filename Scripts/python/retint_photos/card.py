"""Sections that scripts write into a checkpoint's card, Checkpoints/NAME.md."""

import collections
import csv
import hashlib
import re

import retint_tables
from retint_photos import open_photos
from retint_tool import ROOT

LIST = ROOT / "Datasets/debian-photos.tsv"
# Splits of photos that networks are only measured on; these need no stated license.
MEASURED_ON = ("test", "held-out", "reserve")


def rows():
    """The list of photos."""
    with LIST.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def digest(photos):
    """One SHA-256 for a set of photos: of their sorted digests, one a line."""
    lines = "".join(sorted(row["sha256"] + "\n" for row in photos))
    return hashlib.sha256(lines.encode()).hexdigest()


def split(name):
    return [row for row in rows() if row["split"] == name]


def card(name):
    return ROOT / "Checkpoints" / f"{name}.md"


def section(name, title):
    """The text of a section; None if the card has none."""
    found = re.search(rf"<!-- {title} -->\n(.*?)<!-- end -->", card(name).read_text(), re.DOTALL)
    return found[1] if found else None


def write_section(name, title, text):
    """Replaces a section of a card, or adds it at the end."""
    block = f"<!-- {title} -->\n{text.strip()}\n<!-- end -->\n"
    old = card(name).read_text()
    pattern = rf"<!-- {title} -->\n.*?<!-- end -->\n"
    new, count = re.subn(pattern, lambda _: block, old, flags=re.DOTALL)
    card(name).write_text(new if count else f"{old.rstrip()}\n\n{block}")


def open_split(name):
    """The photos of a split from public repositories; their digests are those of the files made."""
    return [{**row, "sha256": row["file_sha256"]}
            for row in open_photos.rows() if row["split"] == name]


def photos_section():
    """What a checkpoint that is trained now learns from: how many photos of which license."""
    training = split("train") + open_split("train")
    validation = split("validation") + open_split("validation")
    parts = [("training", training), ("validation", validation),
             ("cut-outs", split("cutout"))]
    counts = [collections.Counter(row["license"] for row in photos) for _, photos in parts]
    names = sorted(set().union(*counts), key=lambda n: (-sum(c[n] for c in counts), n))
    rows = [(name, *(c[name] or "" for c in counts)) for name in names]
    rows.append(("all", *(len(photos) for _, photos in parts)))
    table = retint_tables.markdown(("license", *(title for title, _ in parts)), rows, left=1)
    origin = ("`Datasets/debian-photos.tsv` names each photo's package, author and license, and "
              "where the\nlicense is stated. `Datasets/open-photos.tsv` does so for photos of "
              "public repositories.")
    return "\n".join([
        "## Photos", "", origin,
        "The network learned from the training photos and the cut-outs; the validation photos were",
        "used for choosing weights.", "", table, "",
        f"SHA-256 of the training photos' digests: `{digest(training)}`; held out were those",
        f"of `{digest(split('held-out'))}`."])
