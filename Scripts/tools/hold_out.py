#!/usr/bin/env python3
"""Holds photos of `train` out, for one test of a finished checkpoint (recipes/judge_checkpoint).

    Scripts/tools/hold_out.py [--write]

Says which photos of Datasets/debian-photos.tsv the rule holds out and whether the list agrees;
--write changes the list. Afterwards `Scripts/datasets` moves the photos. Nobody chooses them, and
nobody looks at them before that test. The rule:

- Kin stay together (python/retint_photos/kin.py). A group is eligible if all of it was in `train`,
  it has at most 6 photos, and each is at least 200 pixels on its short side and not nearly gray:
  of a mean chroma of at least 5 in CIELAB.
- A group is held out if the SHA-256 of its photos' sorted SHA-256 digests, one a line, begins with
  a byte below 56: about 7 of 32 groups.

Needs the photos, and numpy, scipy, Pillow and scikit-image (Scripts/setup --python).
"""

import argparse
import csv
import hashlib
import pathlib
import sys

import numpy
import skimage.color
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from retint_photos import kin
from retint_tool import ROOT

LIST = ROOT / "Datasets/debian-photos.tsv"
PHOTOS = ROOT / "Datasets/debian-photos"
MOST_KIN, SHORT_SIDE, CHROMA, BELOW = 6, 200, 5, 56


def image(row):
    return Image.open(PHOTOS / row["split"] / row["name"])


def is_colorful(row):
    with image(row) as photo:
        small = photo.convert("RGB").resize((64, 64), Image.Resampling.BOX)
    lab = skimage.color.rgb2lab(numpy.asarray(small))
    return numpy.hypot(lab[..., 1], lab[..., 2]).mean() >= CHROMA


def is_eligible(group):
    return (all(kin.set_of(row) == "train" for row in group) and len(group) <= MOST_KIN
            and all(min(map(int, row["size"].split("x"))) >= SHORT_SIDE for row in group)
            and all(map(is_colorful, group)))


def is_drawn(group):
    digests = "".join(sorted(row["sha256"] + "\n" for row in group))
    return hashlib.sha256(digests.encode()).digest()[0] < BELOW


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with LIST.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        rows, columns = list(reader), reader.fieldnames
    photos = [row for row in rows if row["split"] != "cutout"]
    groups = [g for g in kin.groups(photos, image) if is_eligible(g)]
    drawn = {row["name"] for group in groups if is_drawn(group) for row in group}
    listed = {row["name"] for row in rows if row["split"] == "held-out"}
    print(f"{sum(map(len, groups))} photos in {len(groups)} groups are eligible, "
          f"{len(drawn)} are held out; the list {'agrees' if drawn == listed else 'differs'}")
    if options.write:
        for row in photos:
            if kin.set_of(row) == "train":
                row["split"] = "held-out" if row["name"] in drawn else "train"
        with LIST.open("w", encoding="utf-8", newline="") as file:
            file.write("\t".join(columns) + "\n")
            for row in rows:
                file.write("\t".join(row[c] for c in columns) + "\n")
    return 0 if options.write or drawn == listed else 1


if __name__ == "__main__":
    sys.exit(main())
