#!/usr/bin/env python3
"""Records Y'CbCr levels and Lab of colors as the package colour-science computes them.

    Scripts/setup --python
    .venv/bin/python Tests/VideoTests/Frames/Goldens/record_colors.py
"""

import json
from pathlib import Path

import colour
import numpy as np

MATRICES = {"bt601": "ITU-R BT.601", "bt709": "ITU-R BT.709", "bt2020": "ITU-R BT.2020"}
PRIMARIES = {"bt601": "sRGB", "bt709": "sRGB", "bt2020": "ITU-R BT.2020"}
WHITE = np.array([0.95047, 1, 1.08883])
COUNT = 60


def lab(rgb, primaries):
    """CIE Lab of R'G'B' with the curve of sRGB, for D65 of the 2 degree observer."""
    space = colour.RGB_COLOURSPACES[primaries]
    linear = colour.eotf(rgb, function="sRGB")
    xyz = linear @ np.asarray(space.matrix_RGB_to_XYZ).T
    return colour.XYZ_to_Lab(xyz, colour.XYZ_to_xy(WHITE))


def main():
    rng = np.random.default_rng(7)
    cases = []
    for name, weights in MATRICES.items():
        for bits in (8, 10):
            for full in (False, True):
                gray = rng.uniform(0.05, 0.95, (COUNT, 1))
                tint = rng.uniform(-1, 1, (COUNT, 3)) * rng.uniform(0, 0.35, (COUNT, 1))
                rgb = np.clip(gray + tint, 0.01, 0.99)
                levels = colour.RGB_to_YCbCr(
                    rgb, K=colour.WEIGHTS_YCBCR[weights], in_bits=bits, out_bits=bits,
                    in_legal=False, out_legal=not full, out_int=True)
                ab = lab(rgb, PRIMARIES[name])[:, 1:]
                cases.append({
                    "matrix": name, "bits": bits, "full": full,
                    "levels": np.asarray(levels).astype(int).ravel().tolist(),
                    "ab": [float(f"{v:.6g}") for v in ab.ravel()],
                })
    path = Path(__file__).with_name("colors.json")
    path.write_text(json.dumps(cases, separators=(",", ":")))
    print(path.name, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
