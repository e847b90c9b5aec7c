#!/usr/bin/env python3
"""Draws README's picture of what the checkpoints make of test photos: gray, colorized, original.

    .venv/bin/python Scripts/colorized_sheet.py [-o Scripts/colorized.jpg]

Its photos are CC0 or in the public domain (Grace Hopper's as a work of the U.S. Navy, whatever its
package's license in Datasets/debian-photos.tsv), but for OpenCV's peppers, Apache License 2.0.
Needs Pillow; $RETINT or the release build's tool colorizes.
"""

import argparse
import os
import pathlib
import subprocess
import tempfile

from PIL import Image, ImageDraw, ImageFont

ROOT = pathlib.Path(__file__).resolve().parents[1]
RETINT = os.environ.get("RETINT", str(ROOT / ".build/release/retint"))
TEST = ROOT / "Datasets/debian-photos/test"
PHOTOS = [
    "gcompris-renewable-windmill3.webp", "jquery-ui-high-tatras.jpg", "endless-sky-forest0.jpg",
    "gcompris-farm-cow.webp", "gcompris-world-lemur.webp", "facedetect-grace-hopper-512x512.jpg",
    "opencv-fsrcnn-peppers.jpg", "palapeli-citrus-fruits.jpg",
]
CHECKPOINTS = ["lite-class-unet-small", "lite-class-unet"]
WIDTH, HEIGHT, GAP, TITLE = 300, 190, 6, 26


def cell(path):
    """The middle of a picture, in the sheet's proportions."""
    picture = Image.open(path).convert("RGB")
    scale = max(WIDTH / picture.width, HEIGHT / picture.height)
    size = (round(picture.width * scale), round(picture.height * scale))
    picture = picture.resize(size, Image.Resampling.LANCZOS)
    left, top = (size[0] - WIDTH) // 2, (size[1] - HEIGHT) // 2
    return picture.crop((left, top, left + WIDTH, top + HEIGHT))


def colorized(checkpoint, directory):
    output = pathlib.Path(directory) / checkpoint
    photos = [str(TEST / name) for name in PHOTOS]
    model = str(ROOT / f"Checkpoints/{checkpoint}.h5")
    subprocess.run([RETINT, "colorize", model, *photos, "-o", str(output), "--format", "png"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [cell(output / f"{pathlib.Path(name).stem}.png") for name in PHOTOS]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", default=str(ROOT / "Scripts/colorized.jpg"))
    options = parser.parse_args()
    originals = [cell(TEST / name) for name in PHOTOS]
    columns = [("gray", [picture.convert("L").convert("RGB") for picture in originals])]
    with tempfile.TemporaryDirectory() as directory:
        columns += [(name, colorized(name, directory)) for name in CHECKPOINTS]
    columns.append(("original", originals))
    sheet = Image.new("RGB", (len(columns) * (WIDTH + GAP) - GAP,
                              TITLE + len(PHOTOS) * (HEIGHT + GAP) - GAP), "white")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=16)
    for column, (title, pictures) in enumerate(columns):
        x = column * (WIDTH + GAP)
        draw.text((x + WIDTH / 2, TITLE / 2), title, fill="black", font=font, anchor="mm")
        for row, picture in enumerate(pictures):
            sheet.paste(picture, (x, TITLE + row * (HEIGHT + GAP)))
    sheet.save(options.output, quality=88)


if __name__ == "__main__":
    main()
