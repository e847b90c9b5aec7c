"""What kernels compute, by its definition and in float64."""

import dataclasses
import itertools

import numpy

from . import program


@dataclasses.dataclass(frozen=True)
class Window:
    """A convolution or a pool, as rt_conv. Pairs are of height and width; the padding is the same
    on all sides of an axis."""

    batch: int
    size: tuple
    channels: int
    outputs: int
    kernel: tuple
    stride: tuple = (1, 1)
    dilation: tuple = (1, 1)
    pad: tuple = (0, 0)

    @property
    def reach(self):
        return tuple(d * (k - 1) + 1 for d, k in zip(self.dilation, self.kernel))

    @property
    def out(self):
        return tuple((n + 2 * p - r) // s + 1 for n, p, r, s in zip(
            self.size, self.pad, self.reach, self.stride))

    @property
    def taps(self):
        return self.kernel[0] * self.kernel[1]

    @property
    def rows(self):
        return self.batch * self.out[0]

    def input_shape(self):
        return (self.batch, *self.size, self.channels)

    def output_shape(self):
        return (self.batch, *self.out, self.outputs)

    def integers(self, groups=1):
        return (self.batch, *self.size, self.channels, *self.out, self.outputs, *self.kernel,
                *self.stride, *self.dilation, *self.pad, groups)

    def transposed_out(self):
        """The size of the output of a transposed convolution."""
        return tuple((n - 1) * s + r - 2 * p for n, s, r, p in zip(
            self.size, self.stride, self.reach, self.pad))

    def __str__(self):
        return " ".join([
            f"{self.batch}×{self.size[0]}×{self.size[1]}×{self.channels}", f"to {self.outputs}",
            *(f"{name} {a}×{b}" for name, (a, b) in (
                ("kernel", self.kernel), ("stride", self.stride), ("dilation", self.dilation),
                ("pad", self.pad)))])


def patches(window, x, outside=0.0):
    """What each output reads: [N, OH, OW, KH, KW, C]."""
    (ph, pw), (oh, ow), (kh, kw) = window.pad, window.out, window.kernel
    padded = numpy.pad(x.astype(numpy.float64), ((0, 0), (ph, ph), (pw, pw), (0, 0)),
                       constant_values=outside)
    result = numpy.empty((x.shape[0], oh, ow, kh, kw, x.shape[3]))
    (sh, sw), (dh, dw) = window.stride, window.dilation
    for i, j in itertools.product(range(kh), range(kw)):
        result[:, :, :, i, j] = padded[:, i * dh:i * dh + sh * (oh - 1) + 1:sh,
                                       j * dw:j * dw + sw * (ow - 1) + 1:sw]
    return result


def add_patches(window, values):
    """The transpose of `patches`."""
    (ph, pw), (oh, ow), (kh, kw) = window.pad, window.out, window.kernel
    height, width = window.size
    padded = numpy.zeros((values.shape[0], height + 2 * ph, width + 2 * pw, values.shape[-1]))
    (sh, sw), (dh, dw) = window.stride, window.dilation
    for i, j in itertools.product(range(kh), range(kw)):
        padded[:, i * dh:i * dh + sh * (oh - 1) + 1:sh,
               j * dw:j * dw + sw * (ow - 1) + 1:sw] += values[:, :, :, i, j]
    return padded[:, ph:ph + height, pw:pw + width]


def convolution(window, x, w):
    """Weights are [O, KH, KW, I]."""
    return numpy.einsum("nhwijc,oijc->nhwo", patches(window, x), w, optimize=True)


def transposed_convolution(window, x, w):
    """Of an input with the window's size; weights are [I, KH, KW, O]."""
    forward = dataclasses.replace(window, size=window.transposed_out())
    values = numpy.einsum("nhwc,cijo->nhwijo", x.astype(numpy.float64), w, optimize=True)
    return add_patches(forward, values)


def weight_gradient(window, x, dy):
    return numpy.einsum("nhwijc,nhwo->oijc", patches(window, x), dy, optimize=True)


def packed_panel(w, channel, order):
    """[taps, inputs, 32], of weights as [outputs, taps, inputs] (0) or [inputs, taps, outputs]."""
    columns = w.transpose(1, 2, 0) if order == 0 else w.transpose(1, 0, 2)
    if order == 2:
        columns = columns[::-1]
    columns = columns[:, :, channel:channel + 32]
    count = columns.shape[2]
    panel = numpy.zeros((*columns.shape[:2], 32), numpy.float32)
    if 16 < count:
        panel[:, :, :16], panel[:, :, 16:] = columns[:, :, :16], columns[:, :, -16:]
    else:
        panel[:, :, :count] = columns
    return panel


@dataclasses.dataclass(frozen=True)
class Tail:
    """What is applied to results: see rt_tail."""

    scale: numpy.ndarray | None
    bias: numpy.ndarray | None
    factor: float = 1.0
    low: float = -numpy.inf
    high: float = numpy.inf

    def of(self, y, channel=0):
        """Applied to the channels from `channel` on, which are the last axis."""
        part = slice(channel, channel + y.shape[-1])
        if self.scale is not None:
            y = y * self.scale[part].astype(numpy.float64)
        if self.bias is not None:
            y = y + self.bias[part].astype(numpy.float64)
        return numpy.clip(y * self.factor, self.low, self.high)

    def place(self, p):
        arrays = [program.NULL if values is None else p.array(values)
                  for values in (self.scale, self.bias)]
        return p.tail(*arrays, self.factor, self.low, self.high)


def finished(values, tail, terms):
    """What a tail makes of sums of so many products, and the bound of that.

    Errors of the sums are in proportion to these, whatever limits the tail has; it multiplies them
    by 2 at most.
    """
    largest = numpy.abs(values).max(initial=0)
    if tail is None:
        return values, program.sums(terms, largest)
    return tail.of(values), program.sums(terms, 2 * largest)


def tails(p, channels):
    """Some tails, with a name each."""
    scale, bias = p.floats(channels, low=0.5, high=2), p.floats(channels)
    return {"": None, " scale": Tail(scale, None), " bias": Tail(None, bias, 1.5),
            " tail": Tail(scale, bias, 0.5, -0.25, 0.5), " ReLU": Tail(None, None, 1.0, 0.0)}
