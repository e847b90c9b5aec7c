"""Measures how many photos retint colors per second, and its memory use.

    Scripts/benchmark photos [--model CHECKPOINT] [--photos N] [--threads N] [--rounds N]
                                 [--against RETINT] [--folder FOLDER]

Colors a folder of JPEG photos of 2 megapixels, made from the photos in Datasets/debian-photos by
cropping and resizing. With --against, another retint and this one alternate on the same photos,
named one by one on the command line; ratios are those of pairs of runs. Needs Pillow. Other
load on the machine distorts the rates, and the ratios less.
"""

import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import retint_options
import retint_tool

SIZE = (1632, 1224)


def make_photos(source, folder, count):
    """Photos of one size; further ones are mirrored copies of the first."""
    from PIL import Image, ImageOps

    files = sorted(
        path for path in source.rglob("*") if path.suffix in (".jpg", ".png", ".webp"))
    if not files:
        sys.exit(f"{source} has no photos: run Scripts/datasets")
    for index in range(count):
        with Image.open(files[index % len(files)]) as photo:
            photo = ImageOps.fit(photo.convert("RGB"), SIZE, Image.Resampling.BICUBIC)
        if index // len(files) % 2:
            photo = ImageOps.mirror(photo)
        photo.save(folder / f"{index:04}.jpg", quality=90)


def seconds(tool, options, photos, output):
    """How long one run takes; earlier output is removed first."""
    shutil.rmtree(output, ignore_errors=True)
    start = time.perf_counter()
    subprocess.run(
        [tool, "colorize", options.model, *photos, "-o", output,
         "--threads", str(options.threads)],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def median_and_range(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} … {max(values):.2f})"


def measure(options, folder, photos):
    files = sorted(photos.glob("*.jpg"))[: options.photos]
    # A folder that --folder names may have more photos than requested.
    own_argument = [photos] if len(files) == len(list(photos.glob("*.jpg"))) else files
    own, others = [], []
    for _ in range(options.rounds):
        own.append(seconds(retint_tool.RETINT, options, own_argument, folder / "own"))
        if options.against:
            others.append(seconds(options.against, options, files, folder / "other"))
    print(f"photos/s: {median_and_range([len(files) / time for time in own])}")
    if others:
        print(f"photos/s of {options.against}: "
              f"{median_and_range([len(files) / time for time in others])}")
        print(f"ratio: {median_and_range([b / a for a, b in zip(own, others)])}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest process: {peak:.0f} MiB")


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument(
        "--model", default=retint_tool.ROOT / "Checkpoints/lite-class-unet-small.h5")
    parser.add_argument("--photos", type=int, default=500)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--against", help="another retint to compare with")
    parser.add_argument("--folder", type=pathlib.Path, help="keeps the photos, and uses them again")
    parser.add_argument(
        "--source", type=pathlib.Path,
        default=retint_tool.ROOT / "Datasets/debian-photos/train")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        photos = options.folder or folder / "photos"
        if not photos.is_dir():
            photos.mkdir(parents=True)
            make_photos(options.source, photos, options.photos)
        print(f"{retint_tool.cpu()}, {options.threads} threads, {options.photos} photos of "
              f"{SIZE[0]} × {SIZE[1]}, {pathlib.Path(options.model).stem}")
        measure(options, folder, photos)
