"""Trains variants of a recipe at equal cost, and compares each with the recipe photo by photo.

    Scripts/compare ablations [VARIANT…]
        [--steps N] [--seeds N] [--results DIR]

The recipe is the first training of Scripts/recipes/train_checkpoint lite-class-unet for half of the
repeated blocks and half of the decoder's channels, with fewer steps. A variant changes keys of it
(VARIANTS below). Each trains with every seed, on the same photos, in the same number of steps of
the same batch. All are measured on the validation photos, with their own proportions; the values of
a photo are averaged over seeds.

Prints a Markdown table: the recipe's values, and the differences of the variants from it with 95 %
bootstrap intervals over photos. --results keeps runs and reports, and continues what is there.
By default 400 steps, two seeds, and all variants. Needs what train_checkpoint needs.
"""

import json
import pathlib
import sys
import tempfile

import retint_options
import retint_tables
from retint_intervals import mean_and_interval
from retint_tool import DAMAGES, ROOT, run, value

RECIPE = ROOT / "Scripts/recipes/lite-class-unet.yaml"
VALIDATION = ROOT / "Datasets/open-photos/all-validation.txt"
SIZE = ("depth=0.5", "decoder_width=0.5")
LITE2 = ("width=1.1", "depth=1.2")
SETTINGS = SIZE + (
    "data.train=Datasets/open-photos/all-train.txt", f"data.validation={VALIDATION}",
    "data.source_balance=0.5", "data.minimum_scale=0.4", "batch=16", "compute=bfloat16",
    "optimizer.groups=encoder.*: rate=0.3")
CUTOUTS = ("data.cutouts=Datasets/debian-photos/cutouts", "data.cutout_share=0.15")
VARIANTS = {
    "cut-outs": CUTOUTS,
    "plain grounds": (*CUTOUTS, "data.cutout_grounds=0.5"),
    "light": ("data.exposure=0.5", "data.white_balance=0.1"),
    "lightness": ("data.lightness=0.15", "data.contrast=0.3"),
    "gray world": ("data.gray_world=0.3",),
    "proportions": ("data.minimum_area=0.2", "data.ratio=1.5"),
    "several sizes": ("data.other_crops=128 256",),
    "rare colors": ("loss.rebalance=0.7",),
    "neutral": ("loss.neutral=1",),
    # The teacher's decoder is random, but its colors hardly count: cross-entropy is much larger.
    "features of Lite2": (
        "distillation.teacher={lite2}", "distillation.weight=0.1",
        "distillation.features=encoder.blocks.4 encoder.blocks.6",
        "distillation.feature_loss=pairwise", "distillation.feature_weight=100"),
    "old photos": tuple(f"old_photo.{kind}=0.6" for kind in DAMAGES),
}
# A measure, how it is found among the values of a photo, and how many digits it has.
MEASURES = [
    ("ΔE2000", ("delta_e2000",), 2),
    ("AuC, rebalanced, mean over photos", ("ab_auc_rebalanced",), 4),
    ("colorfulness", ("colorfulness",), 1), ("share better than gray", ("better_than_gray",), 3),
    ("chroma of near-gray", ("near_gray", "chroma"), 2),
]


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help=", ".join(VARIANTS))
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--results", type=pathlib.Path)
    options = parser.parse_args()
    unknown = set(options.variants) - VARIANTS.keys()
    if unknown:
        parser.error(f"there is no variant {min(unknown)}; choose from {', '.join(VARIANTS)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.results or pathlib.Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        compare(folder, options)


def compare(folder, options):
    start = pretrained(folder, "lite0", SIZE)
    print(retint_tables.header(["variant", *(title for title, *_ in MEASURES)], left=1))
    base = photos(folder, start, "recipe", (), options)
    print(retint_tables.row(["recipe", *values(base)]), flush=True)
    for name in options.variants or VARIANTS:
        variant = photos(folder, start, name, VARIANTS[name], options)
        print(retint_tables.row([name, *differences(variant, base)]), flush=True)


def pretrained(folder, encoder, size):
    """The published weights of an encoder with a random decoder."""
    start, weights = folder / f"{encoder}-start.h5", folder / f"{encoder}.h5"
    if not start.exists():
        options = [f"--{setting.replace('_', '-')}" for setting in size]
        run(ROOT / "Scripts/recipes/pretrained_encoder.py", encoder, "-o", weights,
            tool=sys.executable)
        run("import", weights, "--architecture", "lite-class-unet", "--temperature", "0.6",
            *options, "--non-strict", "-o", start)
    return start


def photos(folder, start, name, settings, options):
    """The values of each photo, a list with one for each seed."""
    result = {}
    if any("{lite2}" in setting for setting in settings):
        lite2 = pretrained(folder, "lite2", LITE2)
        settings = [setting.format(lite2=lite2) for setting in settings]
    for seed in range(options.seeds):
        report = train(folder / f"{name.replace(' ', '-')}-{seed}", start, settings, seed, options)
        for photo in report["photos"]:
            result.setdefault(photo["file"], []).append(photo)
    return result


def train(output, start, settings, seed, options):
    report = output.with_suffix(".json")
    if not report.exists():
        resume = ("--resume",) if (output / "last.h5").exists() else ()
        run("train", "--config", RECIPE, "--set", f"init={start}", f"steps={options.steps}",
            f"seed={seed}", f"validate_every={options.steps}", "schedule.warmup_steps=50",
            *SETTINGS, *settings, "--output", output, *resume)
        report.write_text(run(
            "evaluate", output / "last.h5", "--data", VALIDATION, "--proportions", "own", "--json"))
    return json.loads(report.read_text())


def means(photos, path):
    """The means over seeds of all photos that have a value."""
    found = {name: [value(photo, path) for photo in seeds] for name, seeds in photos.items()}
    return {name: sum(seeds) / len(seeds) for name, seeds in found.items() if None not in seeds}


def values(photos):
    for _, path, digits in MEASURES:
        mean, low, high = mean_and_interval(list(means(photos, path).values()))
        yield f"{mean:.{digits}f} ({low:.{digits}f} … {high:.{digits}f})"


def differences(photos, base):
    for _, path, digits in MEASURES:
        ours, theirs = means(photos, path), means(base, path)
        mean, low, high = mean_and_interval([ours[name] - theirs[name] for name in theirs])
        yield f"{mean:+.{digits}f} ({low:+.{digits}f} … {high:+.{digits}f})"
