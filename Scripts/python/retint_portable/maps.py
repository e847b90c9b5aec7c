"""Loops over elements, and views of them."""

import math

import numpy

from . import program

SPECIAL = numpy.array([
    math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-40, -1e-40, 1e-30, -1e-30, 1e30, -1e30, 0.5, -0.5,
    1.0, -1.0, 1.5, 2.5, -2.5, 3.0, -3.0, 6.0, 65504.0, 65519.0, 65520.0, 2049.0, 2051.0, 6e-8,
    2.9e-8, -88.0, 87.0, 100.0, -103.0, -110.0, 0.625, 3.92, 5.3, 2.0 ** 23, 2.0 ** 23 + 1],
    numpy.float32)
SIZES = (1, 7, 16, 31, 33, 500)
P, Q = -0.75, 1.25

erf = numpy.vectorize(math.erf, otypes=[float])


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def half(x):
    return x.astype(numpy.float32).astype(numpy.float16).astype(numpy.float64)


def hardswish(x):
    return x * numpy.clip(x + 3, 0, 6) / 6


# Functions that are computed exactly: comparisons, moves and single operations.
EXACT = {
    "copy": lambda x, y, z: x,
    "add": lambda x, y, z: x + y,
    "sub": lambda x, y, z: x - y,
    "mul": lambda x, y, z: x * y,
    "div": lambda x, y, z: x / y,
    "max": lambda x, y, z: numpy.where((x > y) | numpy.isnan(x), x, y),
    "min": lambda x, y, z: numpy.where((x < y) | numpy.isnan(x), x, y),
    "gt": lambda x, y, z: x > y,
    "ge": lambda x, y, z: x >= y,
    "eq": lambda x, y, z: x == y,
    "where_positive": lambda x, y, z: numpy.where(y > 0, x, 0),
    "where_inside": lambda x, y, z: numpy.where((y > P) & (y < Q), x, 0),
    "leaky_gradient": lambda x, y, z: numpy.where(y > 0, x, x * P),
    "neg": lambda x, y, z: -x,
    "sqrt": lambda x, y, z: numpy.sqrt(x),
    "abs": lambda x, y, z: numpy.abs(x),
    "relu": lambda x, y, z: numpy.where(x < 0, 0, x),
    "to_steps": lambda x, y, z: numpy.clip(numpy.rint(x / y), P, Q) * y,
    "leaky": lambda x, y, z: numpy.where(x > 0, x, x * P),
    "clip": lambda x, y, z: numpy.where(x < P, P, numpy.where(x > Q, Q, x)),
    "half": lambda x, y, z: half(x),
    "floor": lambda x, y, z: numpy.floor(x),
    "round": lambda x, y, z: numpy.rint(x),
}
# vectormath.h states errors below 2 units in the last place for most; results below the normal
# numbers have fewer digits. Without a bound: it depends on the operands.
UNITS = program.each(2.0 ** -21, 2.0 ** -126)
INEXACT = {
    "muladd": (lambda x, y, z: x * y + z, None),
    "muladd_relu": (lambda x, y, z: numpy.where(x * y + z < 0, 0, x * y + z), None),
    "exp": (lambda x, y, z: numpy.exp(x), UNITS),
    "log": (lambda x, y, z: numpy.log(x), UNITS),
    "hardswish": (lambda x, y, z: hardswish(x), UNITS),
    "sigmoid": (lambda x, y, z: sigmoid(x), UNITS),
    "tanh": (lambda x, y, z: numpy.tanh(x), program.each(2.0 ** -20, 2.0 ** -126)),
    "erf": (lambda x, y, z: erf(x), program.each(2.0 ** -20, 2.0 ** -126)),
    "gelu": (lambda x, y, z: x * (0.5 + 0.5 * erf(x / math.sqrt(2))), None),
}


def operands(p, count):
    """Three arrays: with many elements, all pairs of special values are among them."""
    if count < SPECIAL.size:
        return [p.random.choice(SPECIAL, count) for _ in range(3)]
    pairs = numpy.array(numpy.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
    a, b = numpy.concatenate([pairs, p.floats(2, count, low=-10, high=10)], axis=1)
    return [a, b, p.floats(a.size, low=-10, high=10)]


def maps(p):
    for size in SIZES:
        values = operands(p, size)
        arrays = [p.array(v) for v in values]
        x, y, z = (v.astype(numpy.float64) for v in values)
        for name, formula in EXACT.items():
            call(p, f"rt_map_{name}", arrays, formula(x, y, z), None)
        # The product's rounding error counts, even if the sum is small.
        each_sum = program.each(0, 2.0 ** -22 * (numpy.abs(x * y) + numpy.abs(z)))
        bounds = {"muladd": each_sum, "muladd_relu": each_sum,
                  "gelu": program.each(0, 5e-7 * numpy.maximum(1, numpy.abs(x)))}
        for name, (formula, bound) in INEXACT.items():
            call(p, f"rt_map_{name}", arrays, formula(x, y, z), bound or bounds[name])


def call(p, name, arrays, truth, bound):
    [size] = arrays[0].shape
    y = p.empty(size)
    p.call(name, P, Q, y, *arrays, size)
    p.result(f"{name} {size}", y, truth.astype(numpy.float32), bound)


def in_place(p):
    """d may be an operand."""
    x = p.floats(33)
    d = p.array(x)
    p.call("rt_map_mul", 0, 0, d, d, d, program.NULL, 33)
    p.result("rt_map_mul in place", d, x * x)


def others(p):
    for channels in (1, 7, 16, 33):
        x = p.floats(5, 2, channels)
        y = p.empty(5, channels)
        p.call("rt_gate", y, p.array(x), channels, 1, 5)
        p.result(f"rt_gate {channels}", y, x[1:, 0] * x[1:, 1], part=numpy.s_[1:])
    for size in SIZES:
        d = p.empty(size)
        p.call("rt_fill", d, 0.375, size)
        p.call("rt_prefetch", d, size)
        p.result(f"rt_fill {size}", d, numpy.full(size, 0.375, numpy.float32))


# Extents and steps of views, and the elements that these reach.
VIEWS = (
    ((33,), (1,), 33),
    ((33,), (0,), 1),
    ((7, 5), (5, 1), 35),
    ((70, 2), (1, 70), 140),
    ((130, 3), (1, 130), 390),
    ((3, 70, 2), (140, 1, 70), 420),
    ((2, 3, 5), (1, 10, 2), 30),
    ((4, 3, 2, 5), (30, 10, 5, 1), 120),
)


def views(p):
    for extents, steps, reach in VIEWS:
        places = sum(numpy.indices(extents)[axis] * step for axis, step in enumerate(steps)).ravel()
        for begin in (0, 1, places.size // 3):
            end = places.size - begin // 2
            name = f"{extents} {steps} {begin}…{end}"
            view = p.array(numpy.array(
                [len(extents), *extents, *[0] * (8 - len(extents)), *steps,
                 *[0] * (8 - len(steps))], numpy.int64))
            s, d = p.floats(reach), p.empty(end - begin)
            p.call("rt_gather", d, p.array(s), view, begin, end - begin)
            p.result(f"rt_gather {name}", d, s[places[begin:end]])
            if 0 in steps:
                continue
            s, target = p.floats(places.size), p.floats(reach)
            d, truth = p.array(target), target.copy()
            truth[places[begin:end]] = s[begin:end]
            p.call("rt_scatter", d, p.array(s), view, begin, end - begin)
            p.result(f"rt_scatter {name}", d, truth)


AREAS = (maps, in_place, others, views)
