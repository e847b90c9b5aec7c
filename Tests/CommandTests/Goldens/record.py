"""Writes the pictures that CommandTests takes from another program: python record.py"""

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
