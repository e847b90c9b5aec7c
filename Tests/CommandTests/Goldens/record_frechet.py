#!/usr/bin/env python3
"""Records Fréchet distances of random features as NumPy and SciPy compute them, as frechet.json."""

import json
from pathlib import Path

import numpy as np
from scipy import linalg


def by_square_root(first, second):
    """As pytorch-fid does, by SciPy's square root of a matrix."""
    covariances = np.cov(first, rowvar=False), np.cov(second, rowvar=False)
    shift = first.mean(0) - second.mean(0)
    root = linalg.sqrtm(covariances[0] @ covariances[1]).real
    return float(shift @ shift + np.trace(covariances[0] + covariances[1] - 2 * root))


def by_singular_values(first, second):
    """Without a square root, which singular matrices may not have: the trace is the sum of the
    singular values of the product of the centered samples."""
    a, b = first - first.mean(0), second - second.mean(0)
    shift = first.mean(0) - second.mean(0)
    traces = (a**2).sum() / (len(a) - 1) + (b**2).sum() / (len(b) - 1)
    common = np.linalg.svd(a @ b.T, compute_uv=False).sum()
    return float(shift @ shift + traces - 2 * common / np.sqrt((len(a) - 1) * (len(b) - 1)))


def case(rng, first, second, columns, distance):
    a = rng.normal(0, 1, (first, columns)) @ rng.normal(0, 1, (columns, columns))
    b = rng.normal(0.5, 1, (second, columns)) @ rng.normal(0, 1, (columns, columns))
    return {"first": a.tolist(), "second": b.tolist(), "distance": distance(a, b)}


def main():
    rng = np.random.default_rng(7)
    cases = [case(rng, 40, 35, 6, by_square_root), case(rng, 12, 12, 1, by_singular_values),
             case(rng, 5, 7, 9, by_singular_values)]
    Path(__file__).with_name("frechet.json").write_text(json.dumps(cases) + "\n")


main()
