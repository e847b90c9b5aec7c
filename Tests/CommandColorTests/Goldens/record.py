"""Writes the pictures that CommandColorTests takes from another program: python record.py"""

from pathlib import Path

import numpy
from PIL import Image

here = Path(__file__).parent
y, x = numpy.mgrid[0:24, 0:32]
color = numpy.stack([x * 8, y * 10, (5 * x + 3 * y) % 256], -1).astype(numpy.uint8)
picture = Image.fromarray(color)
picture.convert("L").save(here / "gray.png")
picture.convert("L").save(here / "gray.jpg", quality=90)
picture.convert("CMYK").save(here / "cmyk.jpg", quality=90)
picture.convert("P").save(here / "palette.png")
Image.new("RGB", (1, 1), (200, 60, 30)).save(here / "one.png")

# A mask whose left third is white once it is upright.
upright = numpy.zeros((40, 60), numpy.uint8)
upright[:, :20] = 255
exif = Image.Exif()
exif[0x0112] = 6
stored = Image.fromarray(upright).transpose(Image.Transpose.ROTATE_90)
stored.save(here / "mask-turned.png", exif=exif)
stored.save(here / "mask-turned.jpg", exif=exif, quality=95)

# Masks of instances: four columns of 15 pixels.
indices = numpy.broadcast_to(numpy.arange(60) // 15, (40, 60)).astype(numpy.uint8)
Image.fromarray(indices).save(here / "instances8.png")
palette = Image.fromarray(indices)
palette.putpalette([90, 0, 0, 0, 90, 0, 0, 0, 0, 255, 255, 255])
palette.save(here / "instances-palette.png")
wide = indices.astype(numpy.uint16)
wide[wide == 3] = 300
wide[0, 0] = 3
Image.fromarray(wide).save(here / "instances16.png")
Image.fromarray(numpy.zeros((40, 60), numpy.uint8)).save(here / "instances-none.png")
Image.fromarray(numpy.broadcast_to(numpy.arange(40) // 10, (24, 40)).astype(numpy.uint8)).save(
    here / "instances-video.png")
