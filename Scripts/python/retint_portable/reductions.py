"""Sums, softmax, normalization and codes; pools and interpolation."""

import itertools

import numpy

from . import formulas, program
from .formulas import Window
from .program import NULL

COLUMNS = (1, 7, 16, 31, 33, 80)


def column_sums(p):
    for rows, columns in itertools.product((1, 5, 130, 300), COLUMNS):
        x, dy, shift = p.floats(rows, columns), p.floats(rows, columns), p.floats(columns)
        memory = [p.array(values) for values in (x, dy, shift)]
        t = x.astype(numpy.float64) - shift
        truths = ([x[1:].sum(axis=0, dtype=numpy.float64)],
                  [t[1:].sum(axis=0), (t[1:] ** 2).sum(axis=0)],
                  [dy[1:].sum(axis=0, dtype=numpy.float64), (dy * t)[1:].sum(axis=0)])
        names = ("rt_column_sums", "rt_column_moments", "rt_column_products")
        inputs = (memory[:1], [memory[0], memory[2]], memory)
        for name, truth, arrays in zip(names, truths, inputs):
            before = p.random.uniform(-1, 1, (len(truth), columns))
            sums, largest = p.array(before), numpy.abs(truth).max(axis=1, keepdims=True)
            p.call(name, sums, *arrays, columns, 1, rows)
            # Blocks of 128 rows are summed in float.
            p.result(f"{name} {rows}×{columns}", sums, before + truth,
                     program.sums(min(rows, 128), largest + 1))


def values(p):
    for size in (0, 1, 7, 16, 31, 33, 3000):
        x = p.floats(size)
        numbers = x.astype(numpy.float64)
        results = {"rt_sum": (numbers.sum(), numpy.float64, program.sums(1024, size ** 0.5)),
                   "rt_max": (numbers.max(initial=-numpy.inf), numpy.float32, None),
                   "rt_max_abs": (numpy.abs(numbers).max(initial=0), numpy.float32, None)}
        for name, (truth, dtype, bound) in results.items():
            result = p.empty(1, dtype=dtype)
            p.call(name, result, p.array(x), size)
            p.result(f"{name} {size}", result, numpy.array([truth]), bound)
    x = p.floats(40)
    x[[3, 39]] = numpy.nan
    largest = p.empty(2)
    p.call("rt_max", largest, p.array(x), 40)
    p.call("rt_max_abs", largest.at(1), p.array(x), 40)
    p.result("rt_max of NaN", largest, numpy.array([numpy.nan, numpy.nanmax(numpy.abs(x))]))


def softmax_of(x, axis):
    e = numpy.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def softmax(p):
    # The differences of up to 40, whose powers of e are summed, are rounded before; results below
    # the normal numbers are 0.
    bound = program.each(2.0 ** -18, 2.0 ** -126)
    for count, inner in ((1, 1), (7, 1), (16, 1), (31, 1), (33, 1), (313, 1), (5, 7), (16, 33),
                         (33, 70)):
        x = p.floats(3, count, inner, low=-20, high=20)
        x[1, 0] = -far(count)
        memory = p.array(x)
        truth = softmax_of(x.astype(numpy.float64), 1)
        for logarithm in (0, 1):
            y = p.empty(3, count, inner)
            p.call("rt_softmax", y, memory, logarithm, count, inner, 0, 3)
            p.result(f"rt_softmax {count}×{inner}{' logarithm' * logarithm}", y,
                     numpy.log(truth) if logarithm else truth,
                     program.sums(2) if logarithm else bound)
        for factor, has_addend in ((1, False), (0.5, False), (2, True)):
            x = p.floats(4, count + 3, low=-9, high=9)
            addend = p.floats(4, count) if has_addend else numpy.zeros((4, count))
            rows = p.array(x)
            truth = x.astype(numpy.float64)
            truth[:, :count] = softmax_of(truth[:, :count] * factor + addend, 1)
            p.call("rt_softmax_rows", rows, count + 3, count, 4, factor,
                   p.array(addend) if has_addend else NULL)
            p.result(f"rt_softmax_rows {count} {factor} {has_addend}", rows, truth,
                     program.each(2.0 ** -17, 2.0 ** -126))


def far(count):
    """So far below the others, where there are others, that its power of e is 0."""
    return 200 if count > 1 else 1


def codes(p):
    for outer, slices, inner in ((1, 5, 7), (3, 4, 33), (2, 1, 16)):
        x = p.floats(outer, slices, inner)
        # Numbers halfway between codes, which the last digit of a quotient rounds up or down; and
        # none but 0.
        x = (numpy.rint(120 * x) + numpy.float32(0.5)) * numpy.float32(0.0123)
        x[:, :, 0] = numpy.float32(127) * numpy.float32(0.0123)
        x[:, 0] = 0
        scale = numpy.abs(x).max(axis=(0, 2), keepdims=True) / numpy.float32(127)
        scale[scale == 0] = 1
        y = p.empty(outer, slices, inner)
        p.call("rt_fake_quantize", y, p.array(x), outer, slices, inner, 0, slices, 127)
        p.result(f"rt_fake_quantize {x.shape}", y, scale * numpy.rint(x / scale))


def normalization(p):
    for count in (1, 7, 16, 31, 33, 100, 2500):
        x = p.floats(3, count) + numpy.float32(3)
        numbers = x.astype(numpy.float64)
        mean = numbers.mean(axis=1, keepdims=True)
        truth = (numbers - mean) / numpy.sqrt(numbers.var(axis=1, keepdims=True) + 1e-3)
        for name, tail in formulas.tails(p, count).items():
            y = p.empty(3, count)
            p.call("rt_normalize_rows", y, p.array(x), count, 1e-3, 0, 3,
                   NULL if tail is None else tail.place(p))
            # Errors of the mean are in proportion to the numbers, and grow as these are scaled.
            p.result(f"rt_normalize_rows {count}{name}", y,
                     truth if tail is None else tail.of(truth), program.sums(4, 16))


POOLS = (((2, 2), (2, 2), (0, 0)), ((3, 3), (2, 2), (1, 1)), ((3, 2), (1, 3), (1, 0)),
         ((5, 6), (5, 6), (0, 0)))


def pools(p):
    for (kernel, stride, pad), channels in itertools.product(POOLS, (1, 7, 16, 31, 33)):
        window = Window(2, (7, 9), channels, channels, kernel, stride, pad=pad)
        x, dy = p.floats(*window.input_shape()), p.floats(*window.output_shape())
        x[0, 2, 3, 0] = numpy.nan
        image, gradient = p.array(x), p.array(dy)
        conv = p.integers(*window.integers())
        y = p.empty(*window.output_shape())
        p.call("rt_max_pool", y, image, conv, 0, window.rows)
        read = formulas.patches(window, x, -numpy.inf)
        p.result(f"rt_max_pool {window}", y, read.max(axis=(3, 4)))

        # The gradient is defined without NaN, and goes to the first of equal maxima.
        x[0, 2, 3, 0] = 0.5
        x = numpy.rint(2 * x) / numpy.float32(2)
        dx = p.empty(*window.input_shape())
        p.call("rt_max_pool_input", dx, p.array(x), gradient, conv, 0, channels)
        read = formulas.patches(window, x, -numpy.inf).reshape(*dy.shape[:3], -1, channels)
        chosen = read.argmax(axis=3)[:, :, :, None] == numpy.arange(window.taps)[:, None]
        routed = (chosen * dy[:, :, :, None]).reshape(*dy.shape[:3], *kernel, channels)
        p.result(f"rt_max_pool_input {window}", dx, formulas.add_patches(window, routed),
                 program.sums(window.taps))
        for counts_padding in (0, 1):
            average_pools(p, window, x, dy, (p.array(x), gradient, conv), counts_padding)


def average_pools(p, window, x, dy, places, counts_padding):
    image, gradient, conv = places
    channels, options = window.channels, (counts_padding, *window.pad)
    ones = numpy.ones(window.input_shape())
    divisor = window.taps if counts_padding else formulas.patches(window, ones).sum(axis=(3, 4))
    y, dx = p.empty(*window.output_shape()), p.empty(*window.input_shape())
    p.call("rt_average_pool", y, image, conv, *options, 0, window.rows)
    p.result(f"rt_average_pool {window} {counts_padding}", y,
             formulas.patches(window, x).sum(axis=(3, 4)) / divisor, program.sums(window.taps))
    p.call("rt_average_pool_input", dx, gradient, conv, *options, 0, channels)
    shares = numpy.broadcast_to((dy / divisor)[:, :, :, None, None],
                                (*dy.shape[:3], *window.kernel, channels))
    p.result(f"rt_average_pool_input {window} {counts_padding}", dx,
             formulas.add_patches(window, shares), program.sums(window.taps))


def samples(inputs, outputs):
    """Where outputs read along an axis, as pixels' centers lie, and the same as a matrix.

    Behind the last center, both pixels are the same, as in the engine.
    """
    places = numpy.maximum((numpy.arange(outputs) + 0.5) * inputs / outputs - 0.5, 0)
    lower = places.astype(int).clip(0, inputs - 1)
    upper = (lower + 1).clip(0, inputs - 1)
    weight = (places - lower).astype(numpy.float32)
    matrix = numpy.zeros((outputs, inputs))
    numpy.add.at(matrix, (numpy.arange(outputs), lower), 1 - weight.astype(numpy.float64))
    numpy.add.at(matrix, (numpy.arange(outputs), upper), weight)
    readers = [[o for o in range(outputs) if i in (lower[o], upper[o])] for i in range(inputs)]
    first = [r[0] if r else 0 for r in readers]
    last = [r[-1] + 1 if r else 0 for r in readers]
    return lower, upper, weight, first, last, matrix


def bilinear(p):
    sizes = (((5, 6), (10, 12)), ((3, 20), (6, 40)), ((7, 9), (4, 5)), ((5, 1), (7, 4)),
             ((4, 5), (11, 13)))
    for (size, out), channels in itertools.product(sizes, (1, 2, 7, 16, 31, 33)):
        axes, matrices = [], []
        for inputs, outputs in zip(size, out):
            *tables, matrix = samples(inputs, outputs)
            places = [p.array(numpy.array(table, numpy.float32 if i == 2 else numpy.int32))
                      for i, table in enumerate(tables)]
            axes.append(p.array(numpy.array([place.offset for place in places], numpy.float64)))
            matrices.append(matrix)
        shape = (*size, channels, *out, *axes)
        x, dy = p.floats(2, *size, channels), p.floats(2, *out, channels)
        y, dx = p.empty(2, *out, channels), p.empty(2, *size, channels)
        name = f"{size} to {out} of {channels}"
        p.call("rt_bilinear", y, p.empty(size[1] * channels), p.array(x), *shape, 0, 2 * out[0])
        p.result(f"rt_bilinear {name}", y,
                 numpy.einsum("ah,bw,nhwc->nabc", *matrices, x, optimize=True), program.sums(4))
        p.call("rt_bilinear_input", dx, p.empty(out[1] * channels), p.array(dy), *shape, 0,
               2 * size[0])
        p.result(f"rt_bilinear_input {name}", dx,
                 numpy.einsum("ah,bw,nabc->nhwc", *matrices, dy, optimize=True), program.sums(9))


AREAS = (column_sums, values, softmax, codes, normalization, pools, bilinear)
