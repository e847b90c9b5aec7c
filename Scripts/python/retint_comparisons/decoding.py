"""Compares how a classifying checkpoint's distributions become colors.

    Scripts/compare decoding CHECKPOINT [--data PHOTOS]
        [--temperatures T…] [--saturations S…] [--certainties C…] [--corings K…] [--near-gray MOST]

The temperature sharpens the distribution over ab bins whose mean is the color; the saturation
multiplies the result, a certainty above 0 makes it less colorful where the likely colors disagree,
and a coring above 0 where it is faint. Prints a Markdown table, and in bold what to choose: the
most colorful of those that tint nearly gray pixels by at most MOST in a and in b (by default 2.7)
and whose ΔE2000 exceeds the lowest by at most 0.05. `retint import --temperature T --saturation S
--certainty C --coring K` sets them.

By default, the photos are the calibration and test photos, which chose no weights. On the
validation photos, which did, networks tint grays less and gain more over gray.
"""

import itertools
import pathlib
import tempfile

import retint_options
import retint_tables
from retint_tool import ROOT, report, run, value

PHOTOS = ROOT / "Datasets/debian-photos"
SPLITS = ("calibration", "test")
SETTINGS = ("temperature", "certainty", "coring", "saturation")
# A value, how it is found in a report, and how many digits it has.
VALUES = [
    ("ΔE2000", ("delta_e2000",), 2), ("rebalanced AuC", ("ab_auc_rebalanced",), 3),
    ("colorfulness", ("colorfulness",), 1), ("better than gray", ("better_than_gray",), 2),
    ("a of near-gray", ("near_gray", "a"), 1), ("b of near-gray", ("near_gray", "b"), 1),
    ("chroma of near-gray", ("near_gray", "chroma"), 1),
]
MARGIN = 0.05


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.6, 0.7, 0.8, 0.9])
    parser.add_argument("--saturations", type=float, nargs="+", default=[1.2, 1.3, 1.4, 1.6, 1.8])
    parser.add_argument("--certainties", type=float, nargs="+", default=[3])
    parser.add_argument("--corings", type=float, nargs="+", default=[0])
    parser.add_argument("--data", type=pathlib.Path, help="a folder or a list of photos")
    parser.add_argument("--near-gray", type=float, default=2.7)
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        decoded = pathlib.Path(folder) / "decoded.h5"
        photos = options.data or listed(pathlib.Path(folder) / "photos.txt")
        for key in itertools.product(options.temperatures, options.certainties, options.corings,
                                     options.saturations):
            settings = zip((f"--{setting}" for setting in SETTINGS), key)
            run("import", options.checkpoint, *itertools.chain(*settings), "-o", decoded)
            found[key] = report("evaluate", decoded, "--data", photos)
    print(table(found, choice(found, options.near_gray)))


def listed(path):
    """A list of the photos that chose no weights."""
    path.write_text("".join(
        f"{photo}\n" for split in SPLITS for photo in sorted((PHOTOS / split).iterdir())))
    return path


def choice(found, most):
    """The decoding to choose; None if no decoding meets the rule."""
    lowest = min(r["delta_e2000"] for r in found.values())
    meeting = [key for key, r in found.items()
               if max(abs(r["near_gray"]["a"]), abs(r["near_gray"]["b"])) <= most
               and r["delta_e2000"] <= lowest + MARGIN]
    return max(meeting, key=lambda key: found[key]["colorfulness"], default=None)


def table(found, chosen):
    rows = []
    for key, r in found.items():
        cells = [f"{part:g}" for part in key]
        cells += [f"{value(r, path):.{digits}f}" for _, path, digits in VALUES]
        mark = "**" if key == chosen else ""
        rows.append([f"{mark}{cell}{mark}" for cell in cells])
    columns = [*SETTINGS, *(title for title, *_ in VALUES)]
    return retint_tables.markdown(columns, rows, left=0)
