#!/usr/bin/env python3
"""Records what scikit-image and SciPy compute for a few colors and pictures, as Goldens/*.json."""

import json
from pathlib import Path

import numpy as np
from scipy import ndimage
from skimage import color, metrics

HERE = Path(__file__).parent
WIDTH, HEIGHT = 23, 17


def colors(rng):
    corners = [[r, g, b] for r in (0, 255) for g in (0, 255) for b in (0, 255)]
    grays = [[v, v, v] for v in (1, 9, 10, 11, 12, 127, 128, 254)]
    dark = rng.integers(0, 16, (40, 3)).tolist()
    return np.array(corners + grays + dark + rng.integers(0, 256, (200, 3)).tolist(), np.uint8)


def lab_goldens(rng):
    pixels = colors(rng)
    lab = rng.uniform([0, -110, -110], [100, 110, 110], (200, 3))
    back = np.rint(color.lab2rgb(lab) * 255)
    other = color.rgb2lab(pixels) + rng.normal(0, 6, pixels.shape)
    other[::7] = color.rgb2lab(pixels)[::-1][::7]
    other[0] = color.rgb2lab(pixels)[0]
    own = color.rgb2lab(pixels)
    return {
        "rgb": pixels.ravel().tolist(),
        "lab": own.ravel().tolist(),
        "out_of_gamut_lab": lab.ravel().tolist(),
        "out_of_gamut_rgb": back.astype(int).ravel().tolist(),
        "other_lab": other.ravel().tolist(),
        "delta_e2000": color.deltaE_ciede2000(own, other).tolist(),
        "delta_e76": color.deltaE_cie76(own, other).tolist(),
    }


def colorfulness(pixels):
    red, green, blue = np.moveaxis(pixels.astype(float), -1, 0)
    rg, yb = red - green, (red + green) / 2 - blue
    return float(np.hypot(rg.std(), yb.std()) + 0.3 * np.hypot(rg.mean(), yb.mean()))


def basicsr_colorfulness(pixels):
    """As in BasicSR: of absolute values."""
    red, green, blue = np.moveaxis(pixels.astype(float), -1, 0)
    rg, yb = np.abs(red - green), np.abs((red + green) / 2 - blue)
    return float(np.hypot(rg.std(), yb.std()) + 0.3 * np.hypot(rg.mean(), yb.mean()))


def ab_measures(first, second):
    difference = (color.rgb2lab(first) - color.rgb2lab(second))[..., 1:]
    error = np.sqrt((difference**2).sum(-1)).ravel()
    curve = np.array([(error <= t).mean() for t in range(151)])
    return float(error.mean()), float(np.trapezoid(curve) / 150)


def balanced_area(first, second):
    """The mean over cells of 10 × 10 in ab, by the first picture's color, of the area in each."""
    one, other = color.rgb2lab(first)[..., 1:], color.rgb2lab(second)[..., 1:]
    error = np.sqrt(((one - other) ** 2).sum(-1)).ravel()
    cells = np.rint(one / 10).reshape(-1, 2)
    areas = []
    for cell in np.unique(cells, axis=0):
        inside = error[(cells == cell).all(-1)]
        curve = np.array([(inside <= t).mean() for t in range(151)])
        areas.append(np.trapezoid(curve) / 150)
    return float(np.mean(areas))


def picture_goldens(rng):
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    waves = [128 + 100 * np.sin(x / (3 + c) + y / (5 - c)) for c in range(3)]
    first = np.clip(np.stack(waves, -1), 0, 255).astype(np.uint8)
    second = np.clip(first + rng.normal(0, 25, first.shape), 0, 255).astype(np.uint8)
    mean, area = ab_measures(first, second)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "first": first.ravel().tolist(),
        "second": second.ravel().tolist(),
        "psnr": metrics.peak_signal_noise_ratio(first, second),
        "ssim": float(metrics.structural_similarity(first, second, channel_axis=-1)),
        "colorfulness": colorfulness(first),
        "basicsr_colorfulness": basicsr_colorfulness(first),
        "mean_delta_e2000": float(
            color.deltaE_ciede2000(color.rgb2lab(first), color.rgb2lab(second)).mean()),
        "mean_ab_error": mean,
        "area_under_curve": area,
        "balanced_area": balanced_area(first, second),
    }


def edge_goldens(rng):
    """Errors within 2 pixels of edges between colors, and elsewhere."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    reference = np.stack([50 + 0 * x, np.where(x + y < 15, 30.0, -10.0), 5.0 * (y > 12)], -1)
    reference += rng.normal(0, 1, reference.shape)
    estimate = reference + rng.normal(0, 4, reference.shape)
    slopes = [ndimage.sobel(reference[..., c], axis, mode="nearest") / 8
              for c in (1, 2) for axis in (0, 1)]
    edges = np.sqrt(sum(slope**2 for slope in slopes)) >= 4
    near = ndimage.maximum_filter(edges, 5, mode="constant")
    error = np.linalg.norm((estimate - reference)[..., 1:], axis=-1)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "reference": reference.ravel().tolist(),
        "estimate": estimate.ravel().tolist(),
        "at_edges": float(error[near].mean()),
        "elsewhere": float(error[~near].mean()),
    }


def group_goldens(rng):
    """Chroma and hue apart, and the errors of groups of pixels, over two images."""
    reference = rng.uniform([0, -40, -40], [100, 40, 40], (300, 3))
    reference[:60, 1:] = rng.normal(0, 2, (60, 2))
    estimate = reference + rng.normal(0, 8, reference.shape)
    chroma, other = color.lab2lch(reference), color.lab2lch(estimate)
    difference = other[:, 1] - chroma[:, 1]
    # As the definition has it: what remains of the distance.
    squares = ((estimate - reference)[:, 1:] ** 2).sum(-1)
    hue = np.sqrt(np.maximum(squares - difference**2, 0))
    distance = np.sqrt(squares)
    gray = chroma[:, 1] < 5
    angle = np.abs((other[:, 2] - chroma[:, 2] + np.pi) % (2 * np.pi) - np.pi)
    quarter = np.minimum(reference[:, 0] // 25, 3)
    return {
        "reference": reference.ravel().tolist(),
        "estimate": estimate.ravel().tolist(),
        "chroma_error": float(np.abs(difference).mean()),
        "chroma_bias": float(difference.mean()),
        "hue_error": float(hue.mean()),
        "hue_angle": float(np.degrees(angle[~gray & (other[:, 1] >= 5)].mean())),
        "errors_by_lightness": [float(distance[quarter == q].mean()) for q in range(4)],
        "near_gray": [float(v) for v in (
            other[gray, 1].mean(), estimate[gray, 1].mean(), estimate[gray, 2].mean())],
        "near_gray_share": float(gray.mean()),
    }


def skin_goldens(rng):
    """ΔE2000 of what has the chroma of skin, by the tone of its mean in each of 8 × 8 fields."""
    width, height = 44, 36
    tones = np.array([[241, 205, 185], [224, 172, 140], [198, 140, 105], [150, 98, 70],
                      [110, 72, 52], [70, 42, 32], [90, 120, 200], [120, 120, 120]])
    y, x = np.mgrid[0:height, 0:width]
    kind = (3 * (x // 9) + y // 7) % len(tones)
    original = np.clip(tones[kind] + rng.normal(0, 6, (height, width, 3)), 0, 255)
    original = np.rint(original).astype(np.uint8)
    estimate = np.clip(original + rng.normal(0, 12, original.shape), 0, 255).astype(np.uint8)
    lab, other = color.rgb2lab(original), color.rgb2lab(estimate)
    errors = color.deltaE_ciede2000(lab, other)
    ycc = color.rgb2ycbcr(original)
    cb, cr = ycc[..., 1], ycc[..., 2]
    skin = (77 <= cb) & (cb <= 127) & (133 <= cr) & (cr <= 173)

    def by_tone(fields):
        groups = [[] for _ in range(6)]
        for field in fields:
            inside = skin[field]
            if inside.any() and inside.mean() >= 0.25:
                light, _, yellow = lab[field][inside].mean(0)
                angle = np.degrees(np.arctan((light - 50) / yellow))
                tone = sum(angle <= bound for bound in (55, 41, 28, 10, -30))
                groups[tone] += errors[field][inside].tolist()
        return [float(np.mean(group)) if group else None for group in groups]

    rows = [slice(height * i // 8, height * (i + 1) // 8) for i in range(8)]
    columns = [slice(width * i // 8, width * (i + 1) // 8) for i in range(8)]
    # Two of them overlap, and the last reaches beyond the image.
    boxes = [[0, 0, 20, 16], [12, 10, 20, 9], [30, 24, 30, 30]]
    return {
        "width": width,
        "original": original.ravel().tolist(),
        "estimate": estimate.ravel().tolist(),
        "delta_e2000": by_tone([(row, column) for row in rows for column in columns]),
        "boxes": boxes,
        "delta_e2000_in_boxes": by_tone(
            [(slice(y, y + rows), slice(x, x + columns)) for x, y, columns, rows in boxes]),
    }


def guided_goldens(rng):
    """The coefficients of the fast guided filter, with a radius of 2 and a regularization of 3."""
    lightness = rng.uniform(0, 100, (HEIGHT, WIDTH))
    mean = lambda plane: ndimage.uniform_filter(plane, 5, mode="nearest")
    result = {"width": WIDTH, "height": HEIGHT, "lightness": lightness.ravel().tolist()}
    for name in "ab":
        plane = rng.normal(0, 20, (HEIGHT, WIDTH)) + 0.3 * lightness
        variance = mean(lightness**2) - mean(lightness) ** 2
        covariance = mean(plane * lightness) - mean(plane) * mean(lightness)
        scale = covariance / (variance + 3)
        offset = mean(plane) - scale * mean(lightness)
        result |= {name: plane.ravel().tolist(), f"scale_{name}": mean(scale).ravel().tolist(),
                   f"offset_{name}": mean(offset).ravel().tolist()}
    return result


def main():
    rng = np.random.default_rng(313)
    for name, goldens in [("lab", lab_goldens(rng)), ("pictures", picture_goldens(rng)),
                          ("edges", edge_goldens(rng)), ("guided", guided_goldens(rng)),
                          ("groups", group_goldens(rng)), ("skin", skin_goldens(rng))]:
        (HERE / f"{name}.json").write_text(json.dumps(goldens) + "\n")


main()
