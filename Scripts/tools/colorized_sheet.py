#!/usr/bin/env python3
"""Draws README's sheet of test photos: gray, colorized by each checkpoint, original.

    .venv/bin/python Scripts/tools/colorized_sheet.py [-o FILE]

The photos are CC0 or in the public domain; Datasets/debian-photos.tsv says where that is stated,
except of the portrait of Grace Hopper, a work of the U.S. Navy. Needs Pillow.
"""

import argparse
import pathlib
import sys
import tempfile

from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

import retint_tool
from retint_tool import ROOT

SHEET = ROOT / "Sources/Retint/Retint.docc/Resources/colorized.jpg"
TEST = ROOT / "Datasets/debian-photos/test"
PHOTOS = [
    "gcompris-renewable-windmill3.webp", "gcompris-germany-neuschwanstein-castle.webp",
    "endless-sky-forest0.jpg", "gcompris-farm-cow.webp", "gcompris-world-lemur.webp",
    "facedetect-grace-hopper-512x512.jpg", "gcompris-kingfisher.webp", "palapeli-citrus-fruits.jpg",
]
CHECKPOINTS = ["lite-class-unet-small", "lite-class-unet"]
WIDTH, HEIGHT, GAP, TITLE = 300, 190, 6, 26


def cell(path):
    """An image, scaled and cropped about its center to a cell of the sheet."""
    image = Image.open(path).convert("RGB")
    scale = max(WIDTH / image.width, HEIGHT / image.height)
    size = (round(image.width * scale), round(image.height * scale))
    image = image.resize(size, Image.Resampling.LANCZOS)
    left, top = (size[0] - WIDTH) // 2, (size[1] - HEIGHT) // 2
    return image.crop((left, top, left + WIDTH, top + HEIGHT))


def colorized(checkpoint, directory):
    output = pathlib.Path(directory) / checkpoint
    photos = [str(TEST / name) for name in PHOTOS]
    model = str(ROOT / f"Checkpoints/{checkpoint}.h5")
    retint_tool.run("colorize", model, *photos, "-o", output, "--format", "png")
    return [cell(output / f"{pathlib.Path(name).stem}.png") for name in PHOTOS]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", default=str(SHEET))
    options = parser.parse_args()
    originals = [cell(TEST / name) for name in PHOTOS]
    columns = [("gray", [image.convert("L").convert("RGB") for image in originals])]
    with tempfile.TemporaryDirectory() as directory:
        columns += [(name, colorized(name, directory)) for name in CHECKPOINTS]
    columns.append(("original", originals))
    sheet = Image.new("RGB", (len(columns) * (WIDTH + GAP) - GAP,
                              TITLE + len(PHOTOS) * (HEIGHT + GAP) - GAP), "white")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=16)
    for column, (title, images) in enumerate(columns):
        x = column * (WIDTH + GAP)
        draw.text((x + WIDTH / 2, TITLE / 2), title, fill="black", font=font, anchor="mm")
        for row, image in enumerate(images):
            sheet.paste(image, (x, TITLE + row * (HEIGHT + GAP)))
    sheet.save(options.output, quality=88)


if __name__ == "__main__":
    main()
