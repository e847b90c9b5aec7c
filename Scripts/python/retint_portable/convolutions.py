"""Convolutions, but for Winograd's, and their gradients."""

import numpy

from . import formulas, program
from .formulas import Window
from .program import NULL


def upper(count, unit):
    return (count + unit - 1) // unit * unit


# Windows of convolutions without groups.
WINDOWS = (
    Window(1, (5, 6), 1, 16, (1, 1)),
    Window(2, (6, 7), 7, 17, (3, 3), pad=(1, 1)),
    Window(1, (9, 8), 16, 31, (3, 3), (2, 2), pad=(1, 1)),
    Window(1, (9, 11), 33, 32, (3, 3), dilation=(2, 2), pad=(2, 2)),
    Window(2, (8, 10), 31, 33, (4, 4), (2, 2), pad=(1, 1)),
    Window(1, (11, 12), 4, 70, (5, 3), (3, 1), (1, 3), (2, 0)),
    Window(1, (7, 40), 16, 48, (3, 7), pad=(1, 3)),
    Window(1, (4, 4), 2, 7, (2, 2), (2, 2)),
    Window(1, (3, 3), 5, 16, (3, 3), pad=(2, 2)),
)


def columns(p):
    """Patches and their transpose."""
    for window in WINDOWS:
        x, conv = p.floats(*window.input_shape()), p.integers(*window.integers())
        count = window.batch * window.out[0] * window.out[1]
        for channel, some in ((0, window.channels), (window.channels // 2, 1)):
            depth = window.taps * some
            cols = p.empty(count, depth + 2)
            p.call("rt_im2col", cols.at(2 * (depth + 2)), depth + 2, p.array(x), conv, channel,
                   some, 2, count)
            truth = formulas.patches(window, x)[..., channel:channel + some]
            p.result(f"rt_im2col {window} {channel} {some}", cols,
                     truth.reshape(count, depth)[2:], part=numpy.s_[2:, :depth])
        patches = p.floats(1, *window.out, *window.kernel, window.channels)
        image = p.empty(*window.size, window.channels)
        p.call("rt_col2im", image, p.array(patches), conv, 0, window.size[0])
        p.result(f"rt_col2im {window}", image, formulas.add_patches(window, patches)[0],
                 program.sums(window.taps))


def flips(p):
    for outputs, height, width, inputs in ((1, 1, 1, 7), (16, 3, 3, 5), (33, 4, 2, 31)):
        w = p.floats(outputs, height, width, inputs)
        d = p.empty(inputs, height, width, outputs)
        p.call("rt_flip_weights", d, p.array(w), outputs, height, width, inputs, 0, inputs)
        p.result(f"rt_flip_weights {w.shape}", d, w[:, ::-1, ::-1].transpose(3, 1, 2, 0))


def weight_panels(p, w, order):
    """For each panel of weights its first output channel, how many it has, and its place."""
    taps = w.shape[1] * w.shape[2]
    inputs, outputs = (w.shape[3], w.shape[0]) if order == 0 else (w.shape[0], w.shape[3])
    memory = p.array(w)
    for channel in range(0, outputs, 32):
        panel = p.empty(taps, inputs, 32)
        p.call("rt_pack_panel", panel, memory, taps, inputs, outputs, channel, order)
        yield channel, max(min(outputs - channel, 32), 16), panel


def panels(p):
    for window in WINDOWS:
        for transposed in (False, True):
            for name, tail in formulas.tails(p, 2 * upper(window.outputs, 32)).items():
                panel_convolution(p, window, transposed, tail, name)


def panel_convolution(p, window, transposed, tail, name):
    out = window.transposed_out() if transposed else window.out
    x, step = p.floats(*window.input_shape()), upper(window.outputs, 16)
    y = p.empty(window.batch, *out, step)
    shape = ((window.channels, *window.kernel, window.outputs) if transposed
             else (window.outputs, *window.kernel, window.channels))
    w, places = p.floats(*shape), p.array(x)
    integers = list(window.integers())
    integers[4:6] = out
    conv, rows = p.integers(*integers), window.batch * out[0]
    for channel, count, panel in weight_panels(p, w, 1 if transposed else 0):
        some = NULL if tail is None else formulas.Tail(
            *(None if values is None else values[channel:] for values in (tail.scale, tail.bias)),
            tail.factor, tail.low, tail.high).place(p)
        # In two parts, as two threads do.
        for begin, end in ((0, rows // 2), (rows // 2, rows)):
            p.call("rt_panel_convolution", y.at(begin * out[1] * step + channel), step, places,
                   panel, conv, int(transposed), count, begin, end, program.FLOAT32, 1, some)
    truth = (formulas.transposed_convolution if transposed else formulas.convolution)(window, x, w)
    p.result(f"rt_panel_convolution {'transposed ' * transposed}{window}{name}", y,
             *formulas.finished(truth, tail, window.taps * window.channels),
             numpy.s_[..., :window.outputs])


def panel_gradients(p):
    """Of 16 or 32 input channels at a time."""
    for window in (
            Window(2, (6, 7), 16, 7, (3, 3), pad=(1, 1)),
            Window(1, (9, 8), 48, 16, (3, 3), (2, 2), pad=(1, 1)),
            Window(2, (5, 6), 32, 31, (1, 1)),
            Window(1, (9, 11), 32, 5, (3, 2), dilation=(2, 3), pad=(2, 1)),
            Window(1, (300, 3), 16, 3, (3, 3), pad=(1, 1))):
        x, dy = p.floats(*window.input_shape()), p.floats(*window.output_shape())
        before = p.floats(window.outputs, *window.kernel, window.channels)
        dw, places = p.array(before), (p.array(x), p.array(dy), p.integers(*window.integers()))
        for channel in range(0, window.channels, 32):
            p.call("rt_panel_weight_gradient", dw, *places, channel,
                   min(window.channels - channel, 32), 0, window.rows)
        p.result(f"rt_panel_weight_gradient {window}", dw,
                 before + formulas.weight_gradient(window, x, dy),
                 program.sums(window.rows * window.out[1]))


def few(p):
    for outputs in range(1, 5):
        for window in (
                Window(2, (6, 21), 16, outputs, (3, 3), pad=(1, 1)),
                Window(1, (7, 40), 33, outputs, (1, 1)),
                Window(1, (9, 30), 7, outputs, (3, 5), (2, 2), (1, 1), (1, 2)),
                Window(1, (9, 9), 31, outputs, (3, 3), (1, 1), (3, 4), (3, 4))):
            x = p.floats(*window.input_shape())
            w = p.floats(outputs, *window.kernel, window.channels)
            y = p.empty(*window.output_shape())
            p.call("rt_few_outputs", y, p.array(x), p.array(w), p.integers(*window.integers()), 0,
                   window.rows)
            p.result(f"rt_few_outputs {window}", y, formulas.convolution(window, x, w),
                     program.sums(window.taps * window.channels))


# MARK: Depthwise

KERNELS = (((3, 3), (1, 1), (1, 1), (1, 1)), ((3, 3), (2, 2), (1, 1), (1, 1)),
           ((3, 3), (1, 1), (1, 1), (0, 0)), ((3, 3), (2, 2), (1, 1), (0, 0)),
           ((5, 5), (1, 1), (1, 1), (2, 2)), ((5, 5), (2, 2), (1, 1), (2, 2)),
           ((7, 7), (1, 1), (1, 1), (3, 3)), ((3, 3), (1, 1), (2, 2), (2, 2)),
           ((4, 6), (1, 1), (1, 1), (1, 2)), ((4, 9), (2, 2), (1, 1), (1, 4)),
           ((2, 3), (3, 3), (1, 1), (0, 1)), ((11, 5), (1, 1), (1, 3), (5, 6)))


def depthwise(p):
    for kernel, stride, dilation, pad in KERNELS:
        for channels in (1, 7, 16, 31, 33):
            for size in ((11, 14), (12, 13)):
                window = Window(2, size, channels, channels, kernel, stride, dilation, pad)
                depthwise_convolution(p, window, None, "")
                depthwise_gradients(p, window)
        for channels, outputs in ((8, 16), (17, 34), (7, 7), (31, 31)):
            window = Window(1, (11, 17), channels, outputs, kernel, stride, dilation, pad)
            for name, tail in formulas.tails(p, outputs).items():
                depthwise_convolution(p, window, tail, name)
    narrow = Window(1, (5, 3), 16, 16, (3, 3), pad=(1, 1))
    depthwise_convolution(p, narrow, None, "")
    depthwise_gradients(p, narrow)


def depthwise_convolution(p, window, tail, name):
    outputs, slices = window.outputs, upper(window.outputs, 16) // 16
    x, w = p.floats(*window.input_shape()), p.floats(outputs, window.taps)
    w_s, y = p.empty(slices, window.taps, 16), p.empty(*window.output_shape())
    p.call("rt_depthwise_weights", w_s, p.array(w), outputs, window.taps, 16, 0, 0, slices)
    # In two parts each way, as threads do.
    conv, places = p.integers(*window.integers(window.channels)), p.array(x)
    some = NULL if tail is None else tail.place(p)
    for begin, end in ((0, window.rows // 2), (window.rows // 2, window.rows)):
        for first, last in ((0, slices // 2), (slices // 2, slices)):
            p.call("rt_depthwise", y, places, w_s, conv, begin, end, first, last, some)
    truth = numpy.einsum(
        "nhwijc,cij->nhwc",
        formulas.patches(window, numpy.repeat(x, outputs // window.channels, axis=3)),
        w.reshape(outputs, *window.kernel))
    p.result(f"rt_depthwise {window}{name}", y, *formulas.finished(truth, tail, window.taps))


def depthwise_gradients(p, window):
    """The weights are laid out as one slice of all channels."""
    channels = window.channels
    w, w_t = p.floats(channels, window.taps), p.empty(window.taps, channels)
    p.call("rt_depthwise_weights", w_t, p.array(w), channels, window.taps, channels, 0, 0, 1)
    p.result(f"rt_depthwise_weights {window}", w_t, w.T)
    rotated = p.empty(window.taps, channels)
    p.call("rt_depthwise_weights", rotated, p.array(w), channels, window.taps, channels, 1, 0, 1)
    p.result(f"rt_depthwise_weights {window} rotated", rotated, w[:, ::-1].T)

    x, dy = p.floats(*window.input_shape()), p.floats(*window.output_shape())
    conv, gradient = p.integers(*window.integers(channels)), p.array(dy)
    dx, rows = p.empty(*window.input_shape()), window.batch * window.size[0]
    p.call("rt_depthwise_input", dx, gradient, w_t, conv, 0, rows)
    values = numpy.einsum("nhwc,cij->nhwijc", dy, w.reshape(channels, *window.kernel))
    p.result(f"rt_depthwise_input {window}", dx, formulas.add_patches(window, values),
             program.sums(window.taps))

    before = p.floats(*window.kernel, channels)
    dw = p.array(before)
    p.call("rt_depthwise_weight", dw, p.array(x), gradient, conv, 0, window.rows)
    p.result(f"rt_depthwise_weight {window}", dw,
             before + numpy.einsum("nhwijc,nhwc->ijc", formulas.patches(window, x), dy),
             program.sums(window.rows * window.out[1]))


AREAS = (columns, flips, panels, panel_gradients, few, depthwise)
