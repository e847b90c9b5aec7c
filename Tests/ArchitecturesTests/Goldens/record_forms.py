"""Records in forms.json what scikit-image computes for the forms of imported networks.

    Scripts/setup --python
    .venv/bin/python Tests/ArchitecturesTests/Goldens/record_forms.py
"""

import json
import pathlib

import numpy
import skimage.color

LIGHTNESS = [0, 0.5, 3, 7.9, 8.1, 20, 50, 77.5, 100]
COLORS = [[0, 0, 0], [1, 1, 1], [0.02, 0.03, 0.04], [0.2, 0.5, 0.8], [1, 0, 0], [0.6, 0.3, 0.05]]


def main():
    lab = numpy.zeros((1, len(LIGHTNESS), 3))
    lab[0, :, 0] = LIGHTNESS
    gray = skimage.color.lab2rgb(lab)[0].mean(1)
    ab = skimage.color.rgb2lab(numpy.array([COLORS]))[0, :, 1:]
    record = {"lightness": LIGHTNESS, "gray": gray.tolist(), "colors": COLORS, "ab": ab.tolist()}
    path = pathlib.Path(__file__).with_name("forms.json")
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
