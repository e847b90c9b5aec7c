"""Winograd's convolutions and their weight gradients, transform by transform."""

import dataclasses
import itertools

import numpy

from . import formulas, products, program
from .formulas import Window
from .program import BFLOAT16, FLOAT16, FLOAT32, NULL

PANEL = 32
# The points of F(4×4, 3×3), and what its weights are divided by.
P, Q = 2 / 3, 3 / 2
NORM_P, NORM_Q = -1 / (8 / 9 * 65 / 36), 1 / (9 / 2 * 65 / 36)
# The transforms of inputs and of weights, by the tile.
SMALL_INPUTS = numpy.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, -1, 0, 1]], float)
INPUTS = {2: SMALL_INPUTS, 3: SMALL_INPUTS, 4: numpy.array([
    [1, 0, -97 / 36, 0, 1, 0],
    *([0, -p * q * q, -q * q, p, 1, 0] for p, q in ((P, Q), (-P, Q), (Q, P), (-Q, P))),
    [0, 1, 0, -97 / 36, 0, 1]])}
WEIGHTS = {
    2: numpy.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]]),
    3: numpy.array([[1, 0], [0.5, 0.5], [0.5, -0.5], [0, 1]]),
    4: numpy.array([[1, 0, 0], *([n, p * n, p * p * n] for n, p in (
        (NORM_P, P), (NORM_P, -P), (NORM_Q, Q), (NORM_Q, -Q))), [0, 0, 1]])}
# The transforms double rounding errors, as four times the terms would.
LOSS = 4


def divided_up(a, b):
    return (a + b - 1) // b


@dataclasses.dataclass(frozen=True)
class Tiling:
    """A convolution in tiles, as rt_winograd."""

    window: Window
    tile: int
    is_transposed: bool = False

    @property
    def in_step(self):
        return 2 if self.tile == 3 and not self.is_transposed else 1

    @property
    def out_step(self):
        return 2 if self.is_transposed else 1

    @property
    def out(self):
        return self.window.transposed_out() if self.is_transposed else self.window.out

    @property
    def side(self):
        return INPUTS[self.tile].shape[0]

    @property
    def depth(self):
        return self.window.channels * self.in_step ** 2

    @property
    def columns(self):
        return self.window.outputs * self.out_step ** 2

    @property
    def stride(self):
        return self.depth + 16

    @property
    def input_pad(self):
        return (1, 1) if self.is_transposed else self.window.pad

    @property
    def tiles_along(self):
        """The tiles of one dilated image along each axis."""
        left_out = self.window.pad if self.is_transposed else (0, 0)
        span = self.tile * self.window.dilation[0]
        return [divided_up(divided_up(n + more, self.out_step), span)
                for n, more in zip(self.out, left_out)]

    @property
    def per_group(self):
        return self.window.dilation[0] ** 2 * self.tiles_along[1]

    @property
    def tiles(self):
        return self.window.batch * self.tiles_along[0] * self.per_group

    def integers(self):
        window = self.window
        return [*window.size, window.channels, *self.out, window.outputs, *self.input_pad,
                window.dilation[0], *(window.pad if self.is_transposed else (0, 0)),
                window.kernel[0], self.in_step, self.out_step, self.tile, *self.tiles_along,
                self.per_group, self.depth, self.stride]

    def corners(self):
        """The image, row and column of the first output of each tile."""
        d = self.window.dilation[0]
        span = self.tile * d
        for image, down in itertools.product(range(self.window.batch), range(self.tiles_along[0])):
            for row, column in itertools.product(range(d), range(d)):
                for across in range(self.tiles_along[1]):
                    yield image, down * span + row, across * span + column

    def inputs(self, x):
        """The transformed inputs: [positions, tiles, depth]."""
        (top, left), d, step = self.input_pad, self.window.dilation[0], self.in_step
        room = step * d * (self.side + self.tile) + step
        padded = numpy.pad(x.astype(numpy.float64), ((0, 0), (top, room), (left, room), (0, 0)))
        transform = INPUTS[self.tile]
        reach = step * d * self.side
        result = []
        for image, row, column in self.corners():
            phases = [padded[image, row * step + i:row * step + i + reach:step * d,
                             column * step + j:column * step + j + reach:step * d]
                      for i, j in itertools.product(range(step), range(step))]
            square = numpy.concatenate(phases, axis=2)
            result.append(numpy.einsum("ai,bj,ijc->abc", transform, transform, square))
        return numpy.array(result).transpose(1, 2, 0, 3).reshape(self.side ** 2, -1, self.depth)

    def weights(self, packed, channel):
        """One panel of transformed weights, [positions, depth, 32], from [taps, inputs, 32]."""
        kernel, transform = self.window.kernel[0], WEIGHTS[self.tile]
        w = packed.astype(numpy.float64).reshape(kernel, kernel, *packed.shape[1:])
        step = kernel // transform.shape[1]
        phases = [w[i::step, j::step] for i, j in itertools.product(range(step), range(step))]
        if self.is_transposed:
            phases = [phases[channel // self.window.outputs][::-1, ::-1]]
        u = [numpy.einsum("ai,bj,ijco->abco", transform, transform, phase) for phase in phases]
        return numpy.concatenate(u, axis=2).reshape(self.side ** 2, self.depth, PANEL)

    def __str__(self):
        return f"{self.tile} {'transposed ' * self.is_transposed}{self.window}"


TILINGS = [Tiling(window, tile) for window in (
    Window(2, (7, 9), 16, 16, (3, 3), pad=(1, 1)),
    Window(1, (12, 8), 48, 48, (3, 3), pad=(0, 0)),
    Window(1, (9, 13), 32, 32, (3, 3), dilation=(2, 2), pad=(2, 2)),
    Window(1, (10, 11), 16, 64, (3, 3), dilation=(3, 3), pad=(1, 1))) for tile in (2, 4)]
TILINGS += [Tiling(Window(2, (9, 12), 16, 48, (4, 4), (2, 2), pad=(1, 1)), 3),
            Tiling(Window(1, (14, 11), 32, 16, (4, 4), (2, 2), pad=(2, 2)), 3)]
TRANSPOSED = [Tiling(Window(2, (5, 6), 16, 32, (4, 4), (2, 2), pad=(1, 1)), 3, True),
              Tiling(Window(1, (4, 7), 48, 64, (4, 4), (2, 2), pad=(0, 0)), 3, True)]


def derived(p):
    for tiling in TILINGS + TRANSPOSED:
        integers = tiling.integers()
        g = p.integers(*integers[:15], 0, 0, 0, 0, 0)
        p.call("rt_winograd_derive", g)
        p.result(f"rt_winograd_derive {tiling}", g, numpy.array(integers))


def transformed_inputs(p, tiling, x, g, kind=FLOAT32):
    """The place of the inputs, and the elements from one position to the next."""
    count, gap = tiling.tiles, 16
    ld = count * tiling.stride + gap
    v = p.empty(tiling.side ** 2, ld, dtype=numpy.uint16 if kind else numpy.float32)
    groups, image = tiling.window.batch * tiling.tiles_along[0], p.array(x)
    # In two parts, as two threads do.
    for group, end in ((0, groups // 2), (groups // 2, groups)):
        p.call("rt_winograd_input", v.at(group * tiling.per_group * tiling.stride), ld, image, g,
               group, 0, (end - group) * tiling.per_group, kind, 0.5, needs=kind)
    bound = program.sums(4) if kind == FLOAT32 else half_bound(kind)
    p.result(f"rt_winograd_input {tiling} {kind}", v,
             tiling.inputs(x) * (0.5 if kind else 1), bound, needs=kind, decode=lambda values:
             decoded(values[:, :-gap].reshape(-1, count, tiling.stride)[..., :tiling.depth], kind))
    return v, ld


def decoded(values, kind):
    return products.unrounded(numpy.ascontiguousarray(values), kind) if kind else values


def half_bound(kind):
    """Half a unit in the last place, and what float32 loses before."""
    return program.each(2.0 ** {FLOAT16: -10, BFLOAT16: -7}[kind], 2.0 ** -18)


def convolutions(p):
    for tiling in TILINGS + TRANSPOSED:
        for name, tail in formulas.tails(p, tiling.window.outputs).items():
            if name in ("", " tail"):
                convolution(p, tiling, tail, name)


def convolution(p, tiling, tail, name):
    window, g = tiling.window, p.integers(*tiling.integers())
    x = p.floats(*window.input_shape())
    first, last = window.outputs, window.channels
    if tiling.is_transposed:
        first, last = last, first
    w = p.floats(first, *window.kernel, last)
    inputs, memory = transformed_inputs(p, tiling, x, g), p.array(w)
    y = p.empty(window.batch, *tiling.out, window.outputs)
    some = NULL if tail is None else tail.place(p)
    for channel in range(0, tiling.columns, PANEL):
        u = transformed_weights(p, tiling, w, memory, g, channel)
        m, m_ld, columns = multiplied(p, tiling, inputs, u, channel)
        p.call("rt_winograd_output", y, m, m_ld, g, 0, 0, tiling.tiles, channel, columns, some)
    truth = (formulas.transposed_convolution if tiling.is_transposed
             else formulas.convolution)(window, x, w)
    p.result(f"rt_winograd_output {tiling}{name}", y, *formulas.finished(
        truth, tail, LOSS * window.taps * window.channels))


def transformed_weights(p, tiling, w, memory, g, channel):
    """The place of a panel, and the elements from one position to the next."""
    window, order = tiling.window, 1 if tiling.is_transposed else 0
    taps, output = window.taps, channel % window.outputs
    packed, ld = p.empty(taps, window.channels, PANEL), tiling.depth * PANEL + 16
    p.call("rt_pack_panel", packed, memory, taps, window.channels, window.outputs, output, order)
    u = p.empty(tiling.side ** 2, ld)
    p.call("rt_winograd_weights", u, ld, packed, g, channel, 0, tiling.depth)
    panel = formulas.packed_panel(w.reshape(w.shape[0], taps, w.shape[3]), output, order)
    p.result(f"rt_winograd_weights {tiling} {channel}", u, tiling.weights(panel, channel),
             program.sums(4), decode=lambda values:
             values[:, :-16].reshape(-1, tiling.depth, PANEL))
    return u, ld


def multiplied(p, tiling, inputs, weights, channel):
    """The place of a panel's products, the floats from one position to the next, and how many
    columns there are."""
    (v, v_ld), (u, u_ld) = inputs, weights
    ld, columns = tiling.tiles * PANEL + 16, min(tiling.columns - channel, PANEL)
    m = p.empty(tiling.side ** 2, ld)
    for position in range(tiling.side ** 2):
        p.call("rt_gemm_panel", tiling.tiles, tiling.depth, v.at(position * v_ld), tiling.stride,
               1, u.at(position * u_ld), PANEL, m.at(position * ld), PANEL, columns, 0, NULL)
    return m, ld, columns


def gradients(p):
    for tiling in TILINGS:
        window, g, count = tiling.window, p.integers(*tiling.integers()), tiling.tiles
        x, dy = p.floats(*window.input_shape()), p.floats(*window.output_shape())
        v, v_ld = transformed_inputs(p, tiling, x, g)
        dw = p.empty(window.outputs, *window.kernel, window.channels)
        scratch, gradient = p.empty(window.taps, window.channels, PANEL), p.array(dy)
        for channel in range(0, window.outputs, PANEL):
            some = min(window.outputs - channel, PANEL)
            d_ld, p_ld = count * PANEL + 16, tiling.depth * PANEL + 16
            d, sums = p.empty(tiling.side ** 2, d_ld), p.empty(tiling.side ** 2, p_ld)
            p.call("rt_winograd_gradient", d, d_ld, gradient, g, 0, 0, count, channel)
            for position in range(tiling.side ** 2):
                p.call("rt_gemm_panel", tiling.depth, count, v.at(position * v_ld), 1,
                       tiling.stride, d.at(position * d_ld), PANEL, sums.at(position * p_ld),
                       PANEL, some, 0, NULL)
            p.call("rt_winograd_weight_gradient", dw, scratch, sums, p_ld, g, channel)
        truth = formulas.weight_gradient(window, x, dy)
        outputs = window.rows * window.out[1]
        p.result(f"rt_winograd_weight_gradient {tiling}", dw, truth,
                 program.sums(LOSS * outputs))


def half_transforms(p):
    for tiling, kind in itertools.product(TILINGS[::3] + TRANSPOSED[:1], (FLOAT16, BFLOAT16)):
        g = p.integers(*tiling.integers())
        transformed_inputs(p, tiling, p.floats(*tiling.window.input_shape()), g, kind)
        half_weights(p, tiling, g, kind)


def half_weights(p, tiling, g, kind):
    """Of pairs of rows, to pairs of rows."""
    taps, channels = tiling.window.taps, tiling.window.channels
    packed = products.rounded(p.floats(taps * channels, PANEL), kind)
    ld = tiling.depth * PANEL + 32
    u = p.empty(tiling.side ** 2, ld, dtype=numpy.uint16)
    p.call("rt_winograd_paired_weights", u, ld, p.array(products.paired(packed)), g, 0, 0,
           tiling.depth, 0.25, kind, needs=kind)
    values = products.unrounded(packed, kind).reshape(taps, channels, PANEL)
    truth = 0.25 * tiling.weights(values, 0)
    p.result(f"rt_winograd_paired_weights {tiling} {kind}", u, truth, half_bound(kind),
             needs=kind, decode=lambda bits: decoded(
                 bits[:, :-32].reshape(-1, PANEL, 2).transpose(0, 2, 1).reshape(truth.shape),
                 kind))


AREAS = (derived, convolutions, gradients, half_transforms)
