"""The 313 ab bins of Sources/Images/Color/ABBins.swift, computed independently with scipy."""

import itertools

import numpy as np
from scipy.spatial import ConvexHull
from skimage.color import rgb2lab

SPACING, EXTENT = 10, 110


def cube_faces():
    """a and b of all 8-bit colors on the RGB cube's surface, which bounds all others."""
    level = np.arange(256)
    first, second = np.meshgrid(level, level, indexing="ij")
    faces = []
    for axis, end in itertools.product(range(3), (0, 255)):
        face = np.insert(np.stack([first, second], -1), axis, end, axis=-1).astype(np.uint8)
        faces.append(rgb2lab(face)[..., 1:].reshape(-1, 2))
    return np.concatenate(faces)


def hull_edges(points, steps=4000):
    """The outline of the convex hull, in small steps."""
    corners = points[ConvexHull(points).vertices]
    share = np.linspace(0, 1, steps)[:, None]
    edges = [p + (q - p) * share for p, q in zip(corners, np.roll(corners, -1, axis=0))]
    return np.concatenate(edges)


def in_gamut():
    """The corners of all 10x10 cells that the hull of the gamut touches, [313, 2], by a, then b."""
    colors = cube_faces()
    cells = np.floor(np.concatenate([colors, hull_edges(colors)]) / SPACING).astype(int)
    corners = np.concatenate([cells + step for step in itertools.product((0, 1), repeat=2)])
    return np.unique(corners, axis=0).astype(np.float64) * SPACING
