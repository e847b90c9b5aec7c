"""Measures the ways to fit photos to a network: its proportions, and how colors are upsampled.

    Scripts/compare fitting [--photos DIR] [--results DIR] MODEL...

Runs `retint evaluate` with each --proportions and --enlarge, at the photos' own size, and prints a
Markdown table: the first way's values, and the differences of the others from it, photo by photo,
with 95 % bootstrap confidence intervals (percentiles of 10,000 resamples of the photos). --results
keeps the reports, and reuses those that are there.
"""

import json
import pathlib
import tempfile

import retint_options
import retint_tables
import retint_tool
from retint_intervals import mean_and_interval

WAYS = [("square", "bilinear"), ("square", "guided"), ("own", "bilinear"), ("own", "guided")]
MEASURES = [
    ("ΔE2000", "delta_e2000"), ("ab error at edges", "ab_error_at_edges"),
    ("ab error elsewhere", "ab_error_elsewhere"), ("colorfulness", "colorfulness"),
]


def photos(model, way, options, folder):
    """The values of each photo, by its name."""
    proportions, enlarge = way
    path = folder / f"{pathlib.Path(model).stem}-{proportions}-{enlarge}.json"
    if not path.exists():
        path.write_text(retint_tool.run(
            "evaluate", model, "--data", options.photos, "--proportions", proportions,
            "--enlarge", enlarge, "--json"))
    return {photo["file"]: photo for photo in json.loads(path.read_text())["photos"]}


def cells(way, base):
    """A value without `base`, or the difference from it."""
    for _, key in MEASURES:
        names = [name for name in way if key in way[name] and (not base or key in base[name])]
        if base:
            mean, low, high = mean_and_interval(
                [way[name][key] - base[name][key] for name in names])
            yield f"{mean:+.3f} ({low:+.3f} … {high:+.3f})"
        else:
            yield f"{sum(way[name][key] for name in names) / len(names):.3f}"


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--photos", default=retint_tool.ROOT / "Datasets/debian-photos/test")
    parser.add_argument("--results", type=pathlib.Path)
    options = parser.parse_args()
    print(retint_tables.header(["model", "way", *(name for name, _ in MEASURES)], left=2))
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.results or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for model in options.models:
            base = None
            for way in WAYS:
                values = photos(model, way, options, folder)
                name = f"`{pathlib.Path(model).stem}`" if base is None else ""
                print(retint_tables.row([name, ", ".join(way), *cells(values, base)]), flush=True)
                base = base or values
