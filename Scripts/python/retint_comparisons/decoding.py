"""Compares how a classifying checkpoint's distributions become colors.

    Scripts/compare decoding CHECKPOINT [--data PHOTOS]
        [--temperatures T…] [--certainties C…] [--neutralities N…] [--saturations S…]
        [--near-gray MOST] [--colorfulness LEAST]

The temperature sharpens the distribution over ab bins whose mean is the color; a neutrality above 0
makes colorful bins less likely; a certainty above 0 makes the color paler where the likely colors
disagree; the saturation multiplies the result. Prints a Markdown table with what to choose. As
`accurate`: of those that tint nearly gray pixels by at most MOST in a and in b (by default 0.7: the
test photos are tinted more than three times as much as the validation photos), those within 0.01 of
the lowest ΔE2000, and of these the one that is better than gray on the most photos. As `vivid`: the
same of those that differ from it in saturation alone, and have a colorfulness of at least LEAST (by
default 30). `retint import --temperature T --certainty C --neutrality N --saturation S
--vivid-saturation V` sets them.

Photos keep their proportions. By default, they are the validation photos.
"""

import itertools
import pathlib
import tempfile

import retint_options
import retint_tables
from retint_tool import ROOT, report, run, value

PHOTOS = ROOT / "Datasets/open-photos/all-validation.txt"
SETTINGS = ("temperature", "certainty", "neutrality", "saturation")
# A value, how it is found in a report, and how many digits it has.
VALUES = [
    ("ΔE2000", ("delta_e2000",), 2), ("rebalanced AuC", ("ab_auc_rebalanced",), 3),
    ("colorfulness", ("colorfulness",), 1), ("better than gray", ("better_than_gray",), 2),
    ("a of near-gray", ("near_gray", "a"), 2), ("b of near-gray", ("near_gray", "b"), 2),
    ("chroma of near-gray", ("near_gray", "chroma"), 1),
]


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=PHOTOS,
                        help="a folder or a list of photos")
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.6, 0.7])
    parser.add_argument("--certainties", type=float, nargs="+", default=[3])
    parser.add_argument("--neutralities", type=float, nargs="+", default=[1, 1.25])
    parser.add_argument("--saturations", type=float, nargs="+",
                        default=[1.2, 1.3, 1.45, 1.95, 2.15])
    parser.add_argument("--near-gray", type=float, default=0.7)
    parser.add_argument("--colorfulness", type=float, default=30)
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        decoded = pathlib.Path(folder) / "decoded.h5"
        for key in itertools.product(options.temperatures, options.certainties,
                                     options.neutralities, options.saturations):
            settings = zip((f"--{setting}" for setting in SETTINGS), key)
            run("import", options.checkpoint, *itertools.chain(*settings), "-o", decoded)
            found[key] = report(
                "evaluate", decoded, "--data", options.data, "--proportions", "own")
    print(table(found, styles(found, options.near_gray, options.colorfulness)))


def styles(found, most, least):
    """The decodings to choose, with their styles. A style is missing if none meets its rule."""
    def best(keys):
        keys = list(keys)
        if not keys:
            return None
        limit = min(found[key]["delta_e2000"] for key in keys) + 0.01
        return max((key for key in keys if found[key]["delta_e2000"] <= limit),
                   key=lambda key: found[key]["better_than_gray"])

    accurate = best(key for key, r in found.items()
                    if max(abs(r["near_gray"]["a"]), abs(r["near_gray"]["b"])) <= most)
    vivid = best(key for key, r in found.items()
                 if accurate and key[:-1] == accurate[:-1] and r["colorfulness"] >= least)
    chosen = {}
    for style, key in (("accurate", accurate), ("vivid", vivid)):
        if key:
            chosen[key] = f"{chosen[key]}, {style}" if key in chosen else style
    return chosen


def table(found, chosen):
    rows = []
    for key, r in found.items():
        cells = [f"{part:g}" for part in key]
        cells += [f"{value(r, path):.{digits}f}" for _, path, digits in VALUES]
        rows.append([*cells, chosen.get(key, "")])
    columns = [*SETTINGS, *(title for title, *_ in VALUES), "style"]
    return retint_tables.markdown(columns, rows, left=0)
