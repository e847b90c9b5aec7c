"""Draws a sheet of photos: gray, colorized by checkpoints, original.

    .venv/bin/python Scripts/tools/colorized_sheet.py [--photos SPLIT] [-o FILE]
    .venv/bin/python Scripts/tools/colorized_sheet.py --failures NAME [--photos SPLIT] [-o FILE]

Nobody picks the photos. They are ordered by how much lower ΔE2000 is than that of the gray photo.
README's sheet shows the first, the last, and six evenly spread between them, by both checkpoints;
the order is that of the first. --failures draws the sheet of a card, Checkpoints/NAME-failures.jpg:
the last six. Only photos that are CC0 or in the public domain are shown
(Datasets/debian-photos.tsv says where that is stated). By default they are the calibration photos,
which no training reads. Needs Pillow and h5py.
"""

import pathlib
import tempfile

from PIL import Image, ImageDraw, ImageFont

import retint_options
import retint_tool
from retint_photos import baseline, card
from retint_photos.sheet import GAP, HEIGHT, PATH, ROWS, TITLE, WIDTH
from retint_tool import ROOT

FREE = ("CC0-1.0", "public-domain")
FAILURES = 6
CHECKPOINTS = ["lite-class-unet", "lite-class-unet-small"]


def cell(path):
    """An image, scaled and cropped about its center to a cell of the sheet."""
    image = Image.open(path).convert("RGB")
    scale = max(WIDTH / image.width, HEIGHT / image.height)
    size = (round(image.width * scale), round(image.height * scale))
    image = image.resize(size, Image.Resampling.LANCZOS)
    left, top = (size[0] - WIDTH) // 2, (size[1] - HEIGHT) // 2
    return image.crop((left, top, left + WIDTH, top + HEIGHT))


def model(checkpoint):
    return ROOT / f"Checkpoints/{checkpoint}.h5"


def errors(network, folder):
    """ΔE2000 of each photo by its file."""
    report = retint_tool.report("evaluate", network, "--data", folder)
    return {photo["file"]: photo["delta_e2000"] for photo in report["photos"]}


def ranked(checkpoint, folder):
    """Files of free photos, from those that gain most over gray to those that lose most."""
    free = {row["name"] for row in card.split(folder.name) if row["license"] in FREE}
    with tempfile.TemporaryDirectory() as directory:
        gray = errors(baseline.constant((0, 0), pathlib.Path(directory)), folder)
    found = errors(model(checkpoint), folder)
    files = [file for file in found if pathlib.Path(file).name in free]
    return sorted(files, key=lambda file: found[file] - gray[file])


def spread(files):
    return [files[round(row * (len(files) - 1) / (ROWS - 1))] for row in range(ROWS)]


def colorized(checkpoint, photos, directory):
    output = pathlib.Path(directory) / checkpoint
    retint_tool.run("colorize", model(checkpoint), *photos, "-o", output, "--format", "png")
    return [cell(output / f"{pathlib.Path(photo).stem}.png") for photo in photos]


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--photos", default="calibration", choices=("calibration", "validation"))
    parser.add_argument("--failures", metavar="NAME")
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    folder = ROOT / "Datasets/debian-photos" / options.photos
    if options.failures:
        sheet = ROOT / f"Checkpoints/{options.failures}-failures.jpg"
        draw([options.failures], ranked(options.failures, folder)[-FAILURES:],
             options.output or sheet)
    else:
        draw(CHECKPOINTS, spread(ranked(CHECKPOINTS[0], folder)), options.output or PATH)


def draw(checkpoints, photos, output):
    originals = [cell(photo) for photo in photos]
    columns = [("gray", [image.convert("L").convert("RGB") for image in originals])]
    with tempfile.TemporaryDirectory() as directory:
        columns += [(name, colorized(name, photos, directory)) for name in checkpoints]
    columns.append(("original", originals))
    sheet = Image.new("RGB", (len(columns) * (WIDTH + GAP) - GAP,
                              TITLE + len(photos) * (HEIGHT + GAP) - GAP), "white")
    canvas, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=16)
    for column, (title, images) in enumerate(columns):
        x = column * (WIDTH + GAP)
        canvas.text((x + WIDTH / 2, TITLE / 2), title, fill="black", font=font, anchor="mm")
        for row, image in enumerate(images):
            sheet.paste(image, (x, TITLE + row * (HEIGHT + GAP)))
    sheet.save(output, quality=88)


if __name__ == "__main__":
    main()
