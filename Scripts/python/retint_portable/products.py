"""Products of matrices, and 16-bit values."""

import numpy

from . import formulas, program
from .program import BFLOAT16, FLOAT16, NULL


def panels(p):
    """rt_gemm_panel, for every number of rows in a strip, in vectors of each width."""
    for floats in (4, 8, 16):
        p.call("rt_limit_vectors", floats)
        for m in (*range(1, 14), 25):
            for columns in (16, 17, 23, 31, 32):
                panel(p, floats, m, columns, depth=(m * 7 + columns) % 40 + 1)
        for columns in (16, 32):
            for name, tail in formulas.tails(p, 32).items():
                panel(p, floats, 7, columns, 9, tail, name, adds=1)
        for name, tail in formulas.tails(p, 32).items():
            panel(p, floats, 5, 23, 1, tail, name)
            panel(p, floats, 6, 32, 33, tail, name, transposes=True)
    widest = p.empty(1, dtype=numpy.int32)
    p.call("rt_vector_floats", widest)
    p.result("rt_vector_floats", widest, numpy.array([True]),
             decode=lambda floats: numpy.isin(floats, (4, 8, 16)))


def panel(p, floats, m, columns, depth, tail=None, name="", adds=0, transposes=False):
    a, b = p.floats(m, depth), p.floats(depth, columns)
    memory = p.array(a.T if transposes else a)
    steps = (1, m) if transposes else (depth, 1)
    laid_out = b if columns == 16 else formulas.packed_panel(b.T[:, None, :], 0, 0)[0]
    y = p.floats(m, columns + 3)
    # A tail's first channel is the first column.
    truth = a.astype(numpy.float64) @ b + adds * y[:, :columns]
    c = p.array(y)
    p.call("rt_gemm_panel", m, depth, memory, *steps, p.array(laid_out), laid_out.shape[1], c,
           columns + 3, columns, adds, NULL if tail is None else tail.place(p))
    y[:, :columns], bound = formulas.finished(truth, tail, depth + 2)
    p.result(f"rt_gemm_panel {floats} floats, {m}×{depth}×{columns}{name}", c, y, bound)


SIZES = ((1, 1, 1), (3, 7, 5), (16, 16, 16), (13, 33, 300), (50, 31, 17), (60, 47, 64),
         (770, 18, 3), (5, 64, 513), (2, 3, 0))


def matrices(p):
    for m, n, k in SIZES:
        for transposes_a, transposes_b, adds, padded in (
                (0, 0, 0, 0), (1, 0, 1, 0), (0, 1, 0, 1), (1, 1, 1, 0), (0, 0, 1, 1)):
            a, b = p.floats(m, k), p.floats(k, n)
            rows = (n + 15) // 16 * 16 if padded else n + 1
            y = p.floats(m, rows)
            truth = a.astype(numpy.float64) @ b + adds * y[:, :n]
            c = p.array(y)
            p.call("rt_sgemm", transposes_a, transposes_b, m, n, k,
                   p.array(a.T if transposes_a else a), m if transposes_a else k,
                   p.array(b.T if transposes_b else b), k if transposes_b else n, adds, padded, c,
                   rows)
            part = numpy.s_[:, :n]
            if not padded:
                truth, part = numpy.concatenate([truth, y[:, n:]], axis=1), ...
            p.result(f"rt_sgemm {m}×{k}×{n} {transposes_a}{transposes_b}{adds}{padded}", c, truth,
                     program.sums(k + 1), part)


def packing(p):
    for taps, inputs, outputs in ((1, 1, 1), (9, 7, 16), (4, 33, 31), (3, 16, 70), (1, 5, 48)):
        for order in range(3):
            shape = (outputs, taps, inputs) if order == 0 else (inputs, taps, outputs)
            w = p.floats(*shape)
            memory = p.array(w)
            for channel in range(0, outputs, 32):
                d = p.empty(taps, inputs, 32)
                p.call("rt_pack_panel", d, memory, taps, inputs, outputs, channel, order)
                p.result(f"rt_pack_panel {taps} {inputs} {outputs} {channel} {order}", d,
                         formulas.packed_panel(w, channel, order))


# MARK: 16-bit values

NAMES = {FLOAT16: "float16", BFLOAT16: "bfloat16"}


def rounded(values, kind):
    """The bits of the nearest values, ties to even."""
    values = numpy.ascontiguousarray(values, numpy.float32)
    bits = values.view(numpy.uint32)
    if kind == FLOAT16:
        nearest = values.astype(numpy.float16).view(numpy.uint16)
        nan = bits >> 16 & 0x8000 | 0x7E00
    else:
        nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        nan = bits >> 16 | 0x40
    return numpy.where(numpy.isnan(values), nan, nearest).astype(numpy.uint16)


def unrounded(bits, kind):
    if kind == FLOAT16:
        return bits.view(numpy.float16).astype(numpy.float64)
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)


def paired(rows):
    """[rows, n] as [rows / 2, n, 2]."""
    return rows.reshape(-1, 2, rows.shape[1]).transpose(0, 2, 1)


def conversions(p):
    small = p.floats(4, 32) * 2.0 ** p.random.integers(-26, 17, (4, 32)).astype(numpy.float32)
    x = numpy.concatenate([p.floats(2, 32), small])
    # Ties, subnormal numbers, and what is beyond the largest float16.
    x[0, :8] = 2049, 2051, 6e-8, 2.9e-8, 65519, 65520, -0.0, -1e9
    # A NaN that would be rounded to -0.
    x[1, 31:] = numpy.array([0x7FFFFFFF], numpy.uint32).view(numpy.float32)
    for kind, name in NAMES.items():
        bits = rounded(0.5 * x, kind)
        pairs = p.empty(3, 32, 2, dtype=numpy.uint16)
        p.call("rt_pair_rows", pairs, p.array(x), 6, 0.5, kind)
        p.result(f"rt_pair_rows {name}", pairs, paired(bits))
        # The reverse is for finite values.
        bits = numpy.where(numpy.isfinite(unrounded(bits, kind)), bits, 0x1234).astype(bits.dtype)
        back = p.empty(6, 32)
        p.call("rt_unpair_rows", back, p.array(paired(bits)), 6, 0.5, kind)
        p.result(f"rt_unpair_rows {name}", back, 0.5 * unrounded(bits, kind).astype(numpy.float32))
        for size in (1, 16, 33):
            d = p.empty(size, dtype=numpy.uint16)
            p.call("rt_to_halves", d, p.array(x.ravel()[:size]), size, 0.5, kind, needs=kind)
            p.result(f"rt_to_halves {name} {size}", d, rounded(0.5 * x.ravel()[:size], kind),
                     needs=kind)


def of_largest(values):
    return 2.0 ** -8 * numpy.abs(values).max()


def half_products(p):
    for kind, name in NAMES.items():
        for m, depth, columns, adds in ((1, 2, 16, 0), (7, 34, 32, 1), (13, 160, 23, 0)):
            a, b = rounded(p.floats(m, depth), kind), rounded(p.floats(depth, columns), kind)
            panel = numpy.zeros((depth, 32), numpy.uint16)
            panel[:, :16] = b[:, :16]
            if columns > 16:
                panel[:, 16:] = b[:, -16:]
            y = p.floats(m, columns)
            tail = formulas.tails(p, 32)[" tail" if adds else ""]
            c = p.array(y)
            p.call("rt_gemm_halves", m, depth, p.array(a), depth, p.array(paired(panel)), c,
                   columns, columns, adds, kind, 2, NULL if tail is None else tail.place(p),
                   needs=kind)
            truth = 2 * unrounded(a, kind) @ unrounded(b, kind) + adds * y
            truth, bound = formulas.finished(truth, tail, depth)
            # half.c measures 1.2e-3 of the result for sums of 128 products in float16.
            p.result(f"rt_gemm_halves {name} {m}×{depth}×{columns}", c, truth,
                     bound if kind == BFLOAT16 else of_largest, needs=kind)


AREAS = (panels, matrices, packing, conversions, half_products)
