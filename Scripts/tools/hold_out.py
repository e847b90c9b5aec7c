"""Holds photos out, for one test of a finished checkpoint (recipes/judge_checkpoint).

    .venv/bin/python Scripts/tools/hold_out.py [--write]

Says which photos of Datasets/debian-photos.tsv the rule holds out and whether the list agrees;
--write changes the list. Afterwards `Scripts/datasets --held-out` moves the photos. Nobody chooses
among the candidates. The rule:

- Candidates are the photos of `held-out` and `reserve`: they left `train` because no license is
  stated for them.
- Kin stay together (python/retint_photos/kin.py). A group is held out if all of it are candidates,
  it has at most 6 photos, and each is at least 200 pixels on its short side and not nearly gray:
  of a mean chroma of at least 5 in CIELAB. The others are in reserve.

Needs the photos, and numpy, scipy, Pillow and scikit-image (Scripts/setup --python).
"""

import sys

import numpy
import skimage.color
from PIL import Image

import retint_options
from retint_photos import card, kin
from retint_tool import ROOT

PHOTOS = ROOT / "Datasets/debian-photos"
MOST_KIN, SHORT_SIDE, CHROMA = 6, 200, 5


def image(row):
    return Image.open(PHOTOS / row["split"] / row["name"])


def is_colorful(row):
    with image(row) as photo:
        small = photo.convert("RGB").resize((64, 64), Image.Resampling.BOX)
    lab = skimage.color.rgb2lab(numpy.asarray(small))
    return numpy.hypot(lab[..., 1], lab[..., 2]).mean() >= CHROMA


def is_held_out(group):
    return (all(kin.set_of(row) == "held-out" for row in group) and len(group) <= MOST_KIN
            and all(min(map(int, row["size"].split("x"))) >= SHORT_SIDE for row in group)
            and all(map(is_colorful, group)))


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = card.rows()
    photos = [row for row in rows if row["split"] != "cutout"]
    groups = [g for g in kin.groups(photos, image) if is_held_out(g)]
    held_out = {row["name"] for group in groups for row in group}
    listed = {row["name"] for row in rows if row["split"] == "held-out"}
    candidates = [row for row in photos if kin.set_of(row) == "held-out"]
    print(f"of {len(candidates)} candidates, {len(held_out)} in {len(groups)} groups are held out; "
          f"the list {'agrees' if held_out == listed else 'differs'}")
    if options.write:
        for row in candidates:
            row["split"] = "held-out" if row["name"] in held_out else "reserve"
        with card.LIST.open("w", encoding="utf-8", newline="") as file:
            file.write("\t".join(rows[0]) + "\n")
            for row in rows:
                file.write("\t".join(row.values()) + "\n")
    return 0 if options.write or held_out == listed else 1


if __name__ == "__main__":
    sys.exit(main())
