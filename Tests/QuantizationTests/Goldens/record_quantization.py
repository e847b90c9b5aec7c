#!/usr/bin/env python3
"""Records what coremltools makes of small weights.

    python record_quantization.py      writes quantization.json beside this script

Weights are those of `numbers` in Support.swift. Codes, scales, zero points and tables are recorded
as `coremltools.optimize` computes them; for k-means tables, the squared error that is the least.
"""

import json
import pathlib

import numpy as np
from coremltools._deps.kmeans1d import core as kmeans1d
from coremltools.optimize import _utils as utils
from coremltools.optimize.coreml._quantization_passes import palettize_weights, prune_weights

SHAPE = [12, 64, 3, 3]
PER_TENSOR, PER_CHANNEL, PER_BLOCK = [0, 0, 0, 0], [1, 0, 0, 0], [1, 32, 0, 0]
TRANSPOSED = [0, 1, 0, 0]


def numbers(seed):
    places = np.arange(np.prod(SHAPE), dtype=np.int64)
    unit = ((places * 7919 + seed * 104729) % 2003).astype(np.float32) / np.float32(2003)
    return (np.float32(2) * unit - np.float32(1)).reshape(SHAPE)


def weights(kind):
    values = numbers(1)
    if kind == "skewed":
        return values * values * values + np.float32(0.25)
    return values


def affine(kind, bits, signed, mode, blocks):
    codes, scales, zeros = utils.compute_qparams(
        weights(kind), bits, signed, mode, np.int8 if signed else np.uint8, blocks)
    codes = codes.astype(np.int64).flatten()
    return {
        "weights": kind, "bits": bits, "signed": signed, "mode": mode, "blocks": blocks,
        "scales": scales.astype(np.float64).flatten().tolist(),
        "zero_points": None if zeros is None else zeros.astype(int).flatten().tolist(),
        "first_codes": codes[:48].tolist(),
        "checksum": int((codes * (np.arange(codes.size) % 1009 + 1)).sum()),
    }


def uniform(bits):
    lut, _ = palettize_weights._get_lut_and_indices(numbers(1), "UNIFORM", bits, None)
    return {"bits": bits, "table": lut.astype(np.float64).tolist()}


def kmeans(kind, bits):
    values = weights(kind).astype(np.float64).flatten()
    points, counts = np.unique(values, return_counts=True)
    centers = np.array(kmeans1d.cluster(points, 1 << bits, weights=counts).centroids)
    error = np.min((points[:, None] - centers[None, :]) ** 2, axis=1) @ counts
    return {"weights": kind, "bits": bits, "squared_error": float(error)}


def pruned(pruner, *options):
    bits = pruner(weights("skewed"), *options).mask
    kept = np.unpackbits(bits, bitorder="little")[: np.prod(SHAPE)].astype(np.int64)
    return {
        "first": kept[:64].tolist(), "count": int(kept.sum()),
        "checksum": int((kept * (np.arange(kept.size) % 1009 + 1)).sum()),
    }


def pruning():
    """By coremltools; numbers of one size are rare enough in these weights not to matter."""
    by_size, by_ratio = prune_weights.compress_by_magnitude, prune_weights.compress_by_nm_sparsity
    return [
        {"zeros": 0, "of": size, "axis": axis, **pruned(by_size, 0.5, size, axis)}
        for size, axis in ((2, 0), (5, 0), (3, 1), (32, 1))
    ] + [
        {"zeros": n, "of": m, "axis": axis, **pruned(by_ratio, (n, m), axis)}
        for n, m, axis in ((2, 4, 1), (1, 2, 0), (3, 5, 1), (4, 5, 0))
    ]


def activation(kind, integers, mode):
    """The range of an activation: coremltools' from its minimum and maximum, NumPy's percentiles,
    and the least squared error of ranges that are shrunk at both ends."""
    values = numbers(1).flatten()
    cubes = values * values * values
    values = {"plain": values, "skewed": cubes + np.float32(0.25),
              "positive": np.maximum(cubes, np.float32(0))}[kind]
    low, high = min(values.min(), 0), max(values.max(), 0)
    signed = integers == "int8"
    dtype = np.int8 if signed else np.uint8

    def parameters(first, last):
        _, scale, zero = utils.compute_qparams(
            np.array([first, last], np.float32), 8, signed, mode, dtype, [0])
        return float(scale.item()), 0 if zero is None else int(zero.item())

    def error(first, last):
        scale, zero = parameters(first, last)
        least, most = (-128, 127) if signed else (0, 255)
        codes = np.clip(np.round(values / np.float32(scale)) + zero, least, most)
        return float((((codes - zero) * np.float32(scale) - values) ** 2).sum(dtype=np.float64))

    factors = np.linspace(0.2, 1, 81)
    if mode == "LINEAR_SYMMETRIC":
        bound = max(-low, high)
        least = min(error(-bound * f, bound * f) for f in factors)
    else:
        least = min(error(low * f, high * g) for f in factors[::4] for g in factors[::4])
    scale, zero = parameters(low, high)
    return {
        "kind": kind, "integers": integers, "mode": mode, "scale": scale, "zero_point": zero,
        "percentile": [min(float(np.percentile(values, 0.5)), 0),
                       max(float(np.percentile(values, 99.5)), 0)],
        "least_error": least,
    }


def main():
    table = {
        "activations": [
            activation(kind, integers, mode)
            for kind in ("plain", "skewed", "positive")
            for integers in ("int8", "uint8")
            for mode in ("LINEAR_SYMMETRIC", "LINEAR")
        ],
        "affine": [
            affine(kind, bits, signed, mode, blocks)
            for kind in ("plain", "skewed")
            for bits in (8, 4)
            for signed in (True, False)
            for mode in ("LINEAR_SYMMETRIC", "LINEAR")
            for blocks in (PER_TENSOR, PER_CHANNEL, PER_BLOCK, TRANSPOSED)
        ],
        "pruning": pruning(),
        "uniform": [uniform(bits) for bits in (1, 2, 3, 4, 6, 8)],
        "kmeans": [
            kmeans(kind, bits) for kind in ("plain", "skewed") for bits in (1, 2, 3, 4, 6, 8)
        ],
    }
    path = pathlib.Path(__file__).with_name("quantization.json")
    path.write_text(json.dumps(table, separators=(",", ":")).replace('},{', '},\n{') + "\n")


if __name__ == "__main__":
    main()
