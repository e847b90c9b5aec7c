"""Colors, motion, resampling, and what ranks exchange."""

import numpy

from . import program
from .program import NULL

LUMA = numpy.array([0.2126, 0.7152, 0.0722])
# Linear sRGB from XYZ relative to D65.
RGB = numpy.array(
    [[3.0799, -1.5371, -0.5428], [-0.9213, 1.8760, 0.0452], [0.0529, -0.2040, 1.1512]])
SIZES = (1, 7, 33, 130)


def encoded(light):
    return numpy.where(light > 0.0031308, 1.055 * light ** (1 / 2.4) - 0.055, 12.92 * light)


def linear(value):
    return numpy.where(value > 0.04045, ((value + 0.055) / 1.055) ** 2.4, value / 12.92)


def lab_curve(light):
    return numpy.where(light > 0.008856, numpy.cbrt(light), 7.787 * light + 16 / 116)


def chroma(p):
    luma = numpy.linspace(0.02, 0.98, 200)
    lightness = lab_curve(linear(luma))
    table = numpy.stack([luma, lightness, numpy.gradient(luma, lightness)], axis=1)
    gray = p.array(table.astype(numpy.float32))
    space = p.array(numpy.concatenate([LUMA, RGB.ravel()]).astype(numpy.float32))
    for size in SIZES:
        sums = p.random.integers(0, 200, size).astype(numpy.uint16)
        a, b = p.floats(2, size, low=-20, high=20)
        cb, cr = p.empty(size), p.empty(size)
        p.call("cs_chroma", gray, p.array(sums), p.array(a), p.array(b), cb, cr, size, space)
        # A step of Newton's method more or less, as rounding decides: half a level of 10 bits.
        for name, values in (("Cb", cb), ("Cr", cr)):
            p.result(f"cs_chroma {name} {size}", values, None, program.each(0, 5e-4))


def levels(p):
    for size in SIZES:
        # Numbers whose products are exact.
        x = (p.random.integers(-40, 90, size) / 64).astype(numpy.float32)
        for name, dtype, scale, offset, high in (("cs_levels_8", numpy.uint8, 219, 16, 235),
                                                 ("cs_levels_16", numpy.uint16, 876, 64, 940)):
            y = p.empty(size, dtype=dtype)
            p.call(name, p.array(x), y, size, scale, offset, offset, high)
            p.result(f"{name} {size}", y, numpy.rint(x * scale + offset).clip(offset, high))


def sums(p):
    for size, columns, rows in ((1, 1, 1), (7, 2, 2), (33, 2, 1), (64, 1, 2), (131, 2, 2)):
        count = (size + 1) // 2 if columns == 2 else size
        for name, dtype, high, limit in (("cs_sums_8", numpy.uint8, 256, ()),
                                         ("cs_sums_16", numpy.uint16, 1100, (1023,))):
            samples = p.random.integers(0, high, (2, size)).astype(dtype)
            clamped = samples[:rows].astype(int).clip(0, *(limit or (255,)))
            pairs = numpy.pad(clamped, ((0, 0), (0, count * columns - size)), "edge")
            y = p.empty(count, dtype=numpy.uint16)
            p.call(name, p.array(samples[0]), p.array(samples[1]), columns, rows, y, size, *limit)
            p.result(f"{name} {size} {columns}×{rows}", y,
                     pairs.reshape(rows, count, columns).sum(axis=(0, 2)))
            before = p.random.integers(0, 9, size).astype(numpy.float32)
            total = p.array(before)
            p.call(name.replace("sums", "accumulate"), p.array(samples[0]), 0.25, total, size,
                   *limit)
            p.result(f"{name.replace('sums', 'accumulate')} {size}", total,
                     before + 0.25 * clamped[0])


def recoloring(p):
    """Every build gives the same bytes."""
    cells = 4096
    light = linear(numpy.arange(256) / 255)
    luminance = p.array((LUMA[:, None] * light).astype(numpy.float32))
    lowest = numpy.rint(encoded(numpy.arange(cells + 1) / cells) * 255).astype(numpy.int32)
    edges = linear((lowest + 0.5) / 255).astype(numpy.float32)
    tables = (luminance, p.array(lowest), p.array(edges), cells)
    for size in SIZES:
        pixels = p.random.integers(0, 256, (size, 3)).astype(numpy.uint8)
        a, b, c, d = (p.array(p.floats(size, low=-60, high=60)) for _ in range(4))
        rgb = p.array(pixels)
        p.call("cs_recolor", rgb, a, b, size, *tables)
        p.result(f"cs_recolor {size}", rgb)
        scale_a, scale_b = p.array(p.floats(size)), p.array(p.floats(size))
        rgb = p.array(pixels)
        p.call("cs_recolor_linear", rgb, scale_a, c, scale_b, d, size, *tables)
        p.result(f"cs_recolor_linear {size}", rgb)
    # Gray stays as it is, within a level.
    gray = numpy.repeat(numpy.arange(256, dtype=numpy.uint8)[:, None], 3, axis=1)
    rgb, zero = p.array(gray), p.array(numpy.zeros(256, numpy.float32))
    p.call("cs_recolor", rgb, zero, zero, 256, *tables)
    p.result("cs_recolor of gray", rgb, gray, program.each(0, 1))


# MARK: Motion

BORDER = 16


def picture(height, width, down, right):
    """A smooth texture that is moved."""
    y, x = numpy.mgrid[:height, :width]
    y, x = y - down, x - right
    return (50 + 20 * numpy.sin(x / 2.3 + y / 5.1) + 20 * numpy.sin(y / 2.9 - x / 7.7)
            ).astype(numpy.float32)


def padded(p, plane):
    height, width = plane.shape
    result = p.empty(height + 2 * BORDER, width + 2 * BORDER)
    p.call("mo_pad", p.array(plane), width, height, result)
    p.result(f"mo_pad {width}×{height}", result, numpy.pad(plane, BORDER, "edge"))
    pitch = width + 2 * BORDER
    return result.at(BORDER * pitch + BORDER), pitch, width, height


def motion(p):
    for height, width in ((8, 8), (21, 30), (33, 47)):
        now, before = picture(height, width, 0, 0), picture(height, width, 0.75, -1.5)
        planes = padded(p, now), padded(p, before)
        zeros = numpy.zeros((height, width), numpy.float32)
        dx, dy, sure = p.array(zeros), p.array(zeros), p.empty(height, width)
        match, room = p.empty(2, dtype=numpy.float64), p.empty(5, height, width)
        p.call("mo_refine", match, *planes[0], *planes[1], dx, dy, sure, room, 12)
        name = f"mo_refine {width}×{height}"
        # Steps end when they are shorter than 0.02, as rounding decides.
        for part, array in (("dx", dx), ("dy", dy), ("reliability", sure)):
            p.result(f"{name} {part}", array, None, program.each(0, 2e-3))
        p.result(f"{name} match", match, None, program.each(1e-3, 1e-2))
        if height > 8:
            for array, moved in ((dx, -1.5), (dy, 0.75)):
                inner = numpy.s_[8:-8, 8:-8]
                p.result(f"{name} moved by {moved}", array, numpy.full(zeros[inner].shape, moved),
                         program.each(0, 0.1), inner)


def halves(p):
    for height, width in ((2, 2), (7, 9), (12, 33)):
        plane, half = p.floats(height, width), p.empty(height // 2, width // 2)
        p.call("mo_halve", p.array(plane), width, height, half)
        even = plane[:height // 2 * 2, :width // 2 * 2].astype(numpy.float64)
        p.result(f"mo_halve {width}×{height}", half,
                 even.reshape(height // 2, 2, -1, 2).mean(axis=(1, 3)), program.sums(4))
        doubled = p.empty(height, width)
        small = p.floats(height // 2, width // 2)
        p.call("mo_double", p.array(small), width // 2, height // 2, doubled, width, height)
        p.result(f"mo_double {width}×{height}", doubled,
                 2 * between(small, *doubled_places(height, width)), program.sums(4))


def doubled_places(height, width):
    return (0.5 * numpy.arange(height)[:, None] - 0.25 + numpy.zeros((1, width)),
            0.5 * numpy.arange(width) - 0.25 + numpy.zeros((height, 1)))


def between(plane, y, x):
    """Bilinear interpolation; beyond an edge, the value there."""
    height, width = plane.shape
    y, x = y.clip(0, height - 1), x.clip(0, width - 1)
    top, left = y.astype(int), x.astype(int)
    bottom, right = (top + 1).clip(0, height - 1), (left + 1).clip(0, width - 1)
    y, x, plane = y - top, x - left, plane.astype(numpy.float64)
    return ((1 - y) * ((1 - x) * plane[top, left] + x * plane[top, right])
            + y * ((1 - x) * plane[bottom, left] + x * plane[bottom, right]))


def colors(p):
    for height, width in ((1, 1), (5, 7), (12, 33)):
        shape = (height, width)
        # Places between pixels that are not rounded.
        dx, dy = p.random.integers(-192, 192, (2, *shape)).astype(numpy.float32) / 64
        y, x = numpy.mgrid[:height, :width]
        y, x = y + dy.astype(numpy.float64), x + dx.astype(numpy.float64)
        inside = (y >= 0) & (y <= height - 1) & (x >= 0) & (x <= width - 1)
        sure, before = p.floats(*shape, low=0, high=1), p.floats(*shape, 4, low=0, high=5)
        motion = [p.array(values) for values in (dx, dy, sure)]
        blend(p, before, motion, (y, x), sure * inside, inside)
        anchor(p, before, motion, (y, x), sure * inside)


def blend(p, before, motion, places, alike, inside):
    (*shape, _), (height, width) = before.shape, alike.shape
    a, b = p.floats(2, *shape, low=-3, high=3)
    old = numpy.stack([between(before[..., i], *places) for i in range(4)], axis=-1)
    confidence = p.floats(*shape, low=0.1, high=2)
    for name, own in (("", numpy.ones(shape)), (" confidence", confidence)):
        result = p.empty(*shape, 4)
        p.call("mo_blend", p.array(before), *motion, p.array(a), p.array(b),
               p.array(own) if name else NULL, 2, result, width, height)
        weight = numpy.minimum(old[..., 2], 2 + old[..., 3]) * alike
        share = own / (weight + own)
        truth = numpy.stack([old[..., 0] + share * (a - old[..., 0]),
                             old[..., 1] + share * (b - old[..., 1]), weight + own,
                             old[..., 3] * alike], axis=-1)
        # What comes from outside is not carried: the new colors stand alone.
        alone = numpy.stack([a, b, own, numpy.zeros(shape)], axis=-1)
        p.result(f"mo_blend {width}×{height}{name}", result,
                 numpy.where(inside[..., None], truth, alone), program.sums(16))


def anchor(p, before, motion, places, alike):
    (*shape, _), (height, width) = before.shape, alike.shape
    a, b = p.floats(2, *shape, low=-3, high=3)
    anchored = p.array(before)
    p.call("mo_anchor", anchored, p.array(a), p.array(b), *motion, 3, width, height)
    weight = 3 * alike
    share = weight / (before[..., 2] + weight)
    truth = numpy.stack([before[..., 0] + share * (between(a, *places) - before[..., 0]),
                         before[..., 1] + share * (between(b, *places) - before[..., 1]),
                         before[..., 2] + weight, numpy.maximum(before[..., 3], weight)], axis=-1)
    p.result(f"mo_anchor {width}×{height}", anchored, truth, program.sums(16))


# MARK: Resampling

def resampling(p):
    for outputs, inputs, count in ((1, 1, 1), (5, 40, 8), (7, 33, 11), (33, 50, 17)):
        starts = numpy.linspace(0, inputs - count, outputs).astype(numpy.int32)
        counts = numpy.full(outputs, count, numpy.int32)
        counts[-1] = max(count - 1, 1)
        windows = (outputs, 3 * count, p.array(starts), p.array(counts))
        row = p.random.integers(0, 256, (inputs, 3)).astype(numpy.uint8)
        weights = p.random.integers(-1 << 17, 1 << 20, (outputs, count)).astype(numpy.int32)
        y = p.empty(outputs, 3, dtype=numpy.uint8)
        p.call("resample_row_rgb8", p.array(row), y, *windows,
               p.array(numpy.repeat(weights, 3, axis=1)))
        total = [weights[o, :counts[o]] @ row[starts[o]:starts[o] + counts[o]].astype(numpy.int64)
                 for o in range(outputs)]
        p.result(f"resample_row_rgb8 {outputs} of {count}", y, rounded(numpy.array(total)))

        row, weights = p.floats(inputs), p.floats(outputs, count)
        y = p.empty(outputs)
        p.call("resample_row_float", p.array(row), y, outputs, count, *windows[2:],
               p.array(weights))
        total = [weights[o, :counts[o]] @ row[starts[o]:starts[o] + counts[o]].astype(float)
                 for o in range(outputs)]
        p.result(f"resample_row_float {outputs} of {count}", y, numpy.array(total),
                 program.sums(count))
        columns(p, outputs, count)


def columns(p, width, count):
    rows = p.random.integers(0, 256, (count, width + 3)).astype(numpy.uint8)
    weights = p.random.integers(-1 << 17, 1 << 20, count).astype(numpy.int32)
    y = p.empty(width, dtype=numpy.uint8)
    p.call("resample_column_8", p.array(rows), width + 3, count, p.array(weights), y, width)
    p.result(f"resample_column_8 {width} of {count}", y,
             rounded(weights @ rows[:, :width].astype(numpy.int64)))
    rows, weights = p.floats(count, width + 3), p.floats(count)
    y = p.empty(width)
    p.call("resample_column_float", p.array(rows), width + 3, count, p.array(weights), y, width)
    p.result(f"resample_column_float {width} of {count}", y,
             weights @ rows[:, :width].astype(float), program.sums(count))


def rounded(total):
    """Sums of weights with 22 fraction bits as bytes."""
    return ((total + (1 << 21)) >> 22).clip(0, 255)


# MARK: What ranks exchange

def ranks(p):
    for size in SIZES:
        x, y = p.floats(size, low=-9, high=9), p.floats(size)
        total = p.array(x)
        p.call("rt_ranks_add", total, p.array(y), size)
        p.result(f"rt_ranks_add {size}", total, x + y)
        lost = (y / 2048).astype(numpy.float32)
        kept, rest = p.array(x), p.array(lost)
        p.call("rt_ranks_round", kept, rest, size)
        half = (x + lost).astype(numpy.float16)
        p.result(f"rt_ranks_round {size}", kept, half)
        p.result(f"rt_ranks_round {size} lost", rest, x + lost - half.astype(numpy.float32))
        bits, back = p.empty(size, dtype=numpy.uint16), p.empty(size)
        p.call("rt_ranks_to_halves", bits, p.array(x), size)
        p.result(f"rt_ranks_to_halves {size}", bits, x.astype(numpy.float16).view(numpy.uint16))
        p.call("rt_ranks_from_halves", back, bits, size)
        p.result(f"rt_ranks_from_halves {size}", back, x.astype(numpy.float16))


AREAS = (chroma, levels, sums, recoloring, motion, halves, colors, resampling, ranks)
