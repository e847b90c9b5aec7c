#!/usr/bin/env python3
"""Write metrics.h5: pairs of arrays with metrics computed by numpy and scikit-image.

Each case is a group with `computed` and `expected` ([1, 2, H, W] each), `lightness` ([1, 1, H, W])
and `metrics`: max |e|, mean |e|, max relative, PSNR (peak 220), SNR, cosine, mean ΔE2000, its p99,
and the p99 of |e|.
"""

import pathlib

import h5py
import numpy as np
from skimage.color import deltaE_ciede2000


def metrics(computed, expected, lightness):
    c, e = computed.astype(np.float64), expected.astype(np.float64)
    error = np.abs(c - e)
    relative = (error[e != 0] / np.abs(e[e != 0])).max()
    psnr = 10 * np.log10(220**2 / np.mean(error**2))
    snr = 10 * np.log10(np.sum(e**2) / np.sum(error**2))
    cosine = np.sum(c * e) / np.sqrt(np.sum(c**2) * np.sum(e**2))
    first, second = (
        np.concatenate([lightness, ab], axis=1).transpose(0, 2, 3, 1).astype(np.float64)
        for ab in (expected, computed)
    )
    difference = deltaE_ciede2000(first, second)
    return [
        error.max(), error.mean(), relative, psnr, snr, cosine,
        difference.mean(), np.percentile(difference, 99), np.percentile(error, 99),
    ]


def cases():
    random = np.random.default_rng(1)
    for name, batch, height, width, scale, noise in [
        ("small", 1, 3, 5, 100, 1e-3),
        ("batch", 3, 7, 4, 60, 0.1),
        ("coarse", 2, 9, 9, 90, 10),
        ("opposite", 1, 4, 4, 20, 60),
    ]:
        shape = (batch, 2, height, width)
        expected = random.uniform(-scale, scale, shape).astype(np.float32)
        expected.flat[0] = 0
        computed = (expected + noise * random.standard_normal(shape)).astype(np.float32)
        lightness = random.uniform(0, 100, (batch, 1, height, width)).astype(np.float32)
        yield name, computed, expected, lightness


with h5py.File(pathlib.Path(__file__).with_name("metrics.h5"), "w") as file:
    for name, computed, expected, lightness in cases():
        file[f"{name}/computed"] = computed
        file[f"{name}/expected"] = expected
        file[f"{name}/lightness"] = lightness
        file[f"{name}/metrics"] = np.array(metrics(computed, expected, lightness))
