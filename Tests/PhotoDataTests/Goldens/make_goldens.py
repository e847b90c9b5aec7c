"""Makes what OpenCV and Pillow say about perspective and soft edges, for the tests of Photos.

    python make_goldens.py    (needs OpenCV 5, Pillow 13 and numpy; writes beside itself)

Coordinates in retint and in Pillow count from the corner of the first pixel, in OpenCV from its
center: the script shifts them by half a pixel.
"""

import json
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageFilter

HERE = Path(__file__).parent
SCENE = (61, 47)
QUADS = {
    "whole": [(0, 0), (61, 0), (61, 47), (0, 47)],
    "gentle": [(10, 6.5), (50, 9), (47.5, 40), (12, 36)],
    "steep": [(4, 4), (56.25, 17), (55, 29), (5, 45)],
    "turned": [(40, 41), (9, 38), (13, 7), (52, 3)],
    "small": [(30, 20), (33, 20.5), (32.5, 23), (30.25, 22)],
}
SIZES = {"whole": (61, 47), "gentle": (40, 31), "steep": (54, 41), "turned": (39, 40),
         "small": (3, 3)}
DEVIATIONS = [0.4, 1.5, 6, 40]
HALF = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])


def scene() -> np.ndarray:
    x, y = np.meshgrid(np.arange(SCENE[0]), np.arange(SCENE[1]))
    waves = [128 + 110 * np.sin(x / 5 + y / 9 + c) * np.cos(y / 6 - c) for c in range(3)]
    return np.dstack(waves).clip(0, 255).round().astype(np.uint8)


def plane(width: int, height: int) -> np.ndarray:
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    return (60 * np.sin(x / 4) + 40 * np.cos(y / 3)).astype(np.float32)


def perspective(image: Image.Image) -> list:
    cases = []
    for name, quad in QUADS.items():
        width, height = SIZES[name]
        corners = [(0, 0), (width, 0), (width, height), (0, height)]
        matrix = cv2.getPerspectiveTransform(np.float32(corners), np.float32(quad))
        straight = image.transform(
            (width, height), Image.Transform.PERSPECTIVE,
            tuple((matrix / matrix[2, 2]).ravel()[:8]), Image.Resampling.BILINEAR)
        straight.save(HERE / f"straight-{name}.png", optimize=True)
        # The way back: values of a rectangle where the scene shows it.
        centers = np.linalg.inv(HALF) @ matrix @ HALF
        warped = cv2.warpPerspective(
            plane(width, height), centers, SCENE, flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE)
        inside = cv2.warpPerspective(
            np.ones((height, width), np.float32), centers, SCENE, flags=cv2.INTER_NEAREST,
            borderMode=cv2.BORDER_CONSTANT, borderValue=0) > 0
        inside = cv2.erode(inside.astype(np.uint8), np.ones((3, 3), np.uint8),
                           borderType=cv2.BORDER_CONSTANT, borderValue=0) > 0
        points = [
            [int(x), int(y), round(float(warped[y, x]), 3)] for y, x in np.argwhere(inside)[::7]
        ]
        assert len(points) > 10 or name == "small"
        cases.append({"name": name, "size": [width, height], "corners": quad,
                      "matrix": (matrix / matrix[2, 2]).ravel().tolist(), "back": points})
    return cases


def soft_edges() -> None:
    x, y = np.meshgrid(np.arange(50), np.arange(37))
    sharp = np.where((x - 30) ** 2 + (y - 12) ** 2 < 140, 255, 0).astype(np.uint8)
    sharp[25:, :14] = 180
    mask = Image.fromarray(sharp)
    mask.save(HERE / "mask.png", optimize=True)
    for deviation in DEVIATIONS:
        soft = mask.filter(ImageFilter.GaussianBlur(deviation))
        soft.save(HERE / f"mask-{deviation}.png", optimize=True)


if __name__ == "__main__":
    picture = Image.fromarray(scene())
    picture.save(HERE / "scene.png", optimize=True)
    lines = [json.dumps(case, separators=(",", ":")) for case in perspective(picture)]
    (HERE / "perspective.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    soft_edges()
