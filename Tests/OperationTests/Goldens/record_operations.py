#!/usr/bin/env python3
"""Records what PyTorch computes for the cases of Tests/OperationCases.

    python record_operations.py      writes operations.json beside this script

Each line of the table below repeats a line of the Swift table under the same name. Inputs are
drawn from the name as CaseValues.swift draws them; outputs and gradients are computed in double
precision.
"""

import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

SAMPLES = 16
U64 = np.uint64


def seed(name, index):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return (value + index * 0x123456789ABCDEF1) % 2**64


def split_mix(start, count):
    with np.errstate(over="ignore"):
        z = U64(start) + np.arange(1, count + 1, dtype=U64) * U64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> U64(30))) * U64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> U64(27))) * U64(0x94D049BB133111EB)
        return z ^ (z >> U64(31))


def distinct(bits):
    count = len(bits)
    ranks = list(range(count))
    for index in range(count - 1, 0, -1):
        other = int(bits[index]) % (index + 1)
        ranks[index], ranks[other] = ranks[other], ranks[index]
    return (2.0 * np.array(ranks) - count) / count


def draw(kind, count, start):
    bits = split_mix(start, count)
    unit = (bits >> U64(40)).astype(np.float64) / 2**24
    values = {
        "signed": lambda: 2 * unit - 1,
        "positive": lambda: 0.5 + 1.5 * unit,
        "wide": lambda: 16 * unit - 8,
        "integers": lambda: ((bits >> U64(40)) % U64(17)).astype(np.float64) - 8,
        "distinct": lambda: distinct(bits),
    }[kind]()
    return values.astype(np.float32).astype(np.float64)


def digest(tensor):
    values = tensor.detach().numpy().reshape(-1)
    count = len(values)
    kept = min(count, SAMPLES)
    samples = [values[index * count // kept] for index in range(kept)]
    projection = np.dot(values, draw("signed", count, 42))
    numbers = [projection, np.dot(values, values), *samples]
    return [count] + [float(f"{number:.7g}") for number in numbers]


class Spec:
    """A shape and the range that its values are drawn from."""

    def __init__(self, kind, shape):
        self.kind, self.shape = kind, tuple(shape)

    def tensor(self, name, index):
        values = draw(self.kind, int(np.prod(self.shape, dtype=int)), seed(name, index))
        return torch.from_numpy(values).reshape(self.shape).requires_grad_()


def positive(*shape):
    return Spec("positive", shape)


def wide(*shape):
    return Spec("wide", shape)


def integers(*shape):
    return Spec("integers", shape)


def different(*shape):
    return Spec("distinct", shape)


def run(name, specs, function):
    specs = [spec if isinstance(spec, Spec) else Spec("signed", spec) for spec in specs]
    inputs = [spec.tensor(name, index) for index, spec in enumerate(specs)]
    output = function(*inputs)
    if name.startswith("batch_moments"):
        return [digest(output)]
    weights = Spec("signed", output.shape).tensor(name, 1000).detach()
    grads = [None] * len(inputs)
    if output.requires_grad:
        grads = torch.autograd.grad((output * weights).sum(), inputs, allow_unused=True)
    grads = [torch.zeros_like(x) if g is None else g for x, g in zip(inputs, grads)]
    return [digest(tensor) for tensor in [output, *grads]]


def padded(value, *amounts):
    """Amounts before and after each axis, first axis first."""
    last_first = [n for pair in reversed(amounts) for n in pair]
    return lambda x: F.pad(x, last_first, value=value)


def pullback(shape, function):
    """The gradient of function(x)·y with respect to x as a function of y."""

    def gradient(y):
        x = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
        return torch.autograd.grad(function(x), x, y, create_graph=True)[0]

    return gradient


def fake_quantized(bits, axis):
    """PyTorch's own operation, which takes float32 alone, and its gradient in double."""
    largest = 2 ** (bits - 1) - 1

    def apply(x):
        axes = [index for index in range(x.dim()) if index != axis]
        scale = x.detach().abs().amax(axes).float() / largest
        single, code = x.float(), (-largest, largest)
        if axis is None:
            return T.fake_quantize_per_tensor_affine(single, float(scale), 0, *code).double()
        zeros = T.zeros(x.shape[axis], dtype=T.int32)
        return T.fake_quantize_per_channel_affine(single, scale, zeros, axis, *code).double()

    return apply


def learned_fake_quantized(x, scale):
    """8 bits with a learned step size, of one number for all; float32 alone."""
    factor = 1 / (127 * x.numel()) ** 0.5
    return T._fake_quantize_learnable_per_tensor_affine(
        x.float(), scale.float().reshape(1), T.zeros(1), -128, 127, factor).double()


def conv(stride=1, padding=0, dilation=1, groups=1):
    """Padding may be (left, right, top, bottom)."""

    def apply(x, weight, bias=None):
        amount = padding
        if isinstance(amount, tuple):
            x, amount = F.pad(x, amount), 0
        return F.conv2d(x, weight, bias, stride, amount, dilation, groups)

    return apply


def transposed(stride=1, padding=0, output_padding=0, dilation=1, groups=1):
    def apply(x, weight, bias=None):
        return F.conv_transpose2d(
            x, weight, bias, stride, padding, output_padding, groups, dilation
        )

    return apply


def max_pool(kernel, stride=None, padding=0):
    return lambda x: F.max_pool2d(x, kernel, stride, padding)


def avg_pool(kernel, stride=None, padding=0, include=True):
    return lambda x: F.avg_pool2d(x, kernel, stride, padding, count_include_pad=include)


def mean_of_present(x):
    """Asymmetric padding that does not count: the sum of what is there over how much is there."""
    padding = (1, 0, 0, 1)
    ones = F.avg_pool2d(F.pad(torch.ones_like(x), padding), 3, 2)
    return F.avg_pool2d(F.pad(x, padding), 3, 2) / ones


def bilinear(factor, aligned=False):
    return lambda x: F.interpolate(
        x, scale_factor=factor, mode="bilinear", align_corners=aligned
    )


def normalized(epsilon=1e-5):
    """By the formula, since F.batch_norm does not differentiate its statistics; checked by it."""

    def apply(x, w, b, m, v):
        shape = [1, -1] + [1] * (x.dim() - 2)
        w, b, m, v = (t.reshape(shape) for t in (w, b, m, v))
        y = w * (x - m) / torch.sqrt(v + epsilon) + b
        vectors = [t.detach().flatten() for t in (m, v, w, b)]
        expected = F.batch_norm(x.detach(), *vectors, False, 0.1, epsilon)
        torch.testing.assert_close(y.detach(), expected)
        return y

    return apply


def normalized_training(epsilon=1e-5):
    return lambda x, w, b: F.batch_norm(x, None, None, w, b, True, 0.1, epsilon)


def moments(x, _):
    axes = [axis for axis in range(x.dim()) if axis != 1]
    return torch.stack([x.mean(axes), x.var(axes, unbiased=False)])


def clip(low, high):
    """x.clamp(low, high), but its gradient passes on the limits; clamp of PyTorch 2.15 stops it."""
    return lambda x: torch.where(x < low, low, torch.where(x > high, high, x))


def compared(function):
    return lambda x, y=2: function(x, y).double()


def tokens(x, w):
    return (x.reshape(2, 6, 20).transpose(1, 2) @ w).transpose(1, 2).reshape(2, 7, 4, 5)


LARGE = [2, 64, 33, 31]
T = torch

POINTWISE = [
    ("neg", [[3, 5]], T.neg),
    ("exp", [[2, 3, 4, 5]], T.exp),
    ("exp rank 0", [[]], T.exp),
    ("log", [positive(7)], T.log),
    ("sqrt", [positive(1, 17, 3, 2)], T.sqrt),
    ("abs", [[2, 3, 5]], T.abs),
    ("abs at 0", [integers(2, 17, 5)], T.abs),
    ("floor", [wide(2, 17, 5)], T.floor),
    ("round", [wide(2, 17, 5)], T.round),
    ("round halves", [integers(2, 17, 5)], lambda x: T.round(x * 0.5)),
    ("erf", [wide(2, 17, 5)], T.erf),
    ("sin", [wide(2, 3, 5)], T.sin),
    ("cos", [wide(2, 3, 5)], T.cos),
    ("atan", [wide(2, 3, 5)], T.atan),
    ("clip", [[4, 9]], clip(-0.5, 0.25)),
    ("clip at its limits", [integers(2, 5, 4, 3)], clip(-2, 3)),
    ("clip above", [wide(31)], lambda x: x.clamp(max=1)),
    ("clip below", [wide(31)], lambda x: x.clamp(min=0)),
    ("relu", [[2, 17, 3, 5]], T.relu),
    ("relu at 0", [integers(2, 5, 7, 3)], T.relu),
    ("relu of 131k", [LARGE], T.relu),
    ("leaky_relu", [[2, 7, 3, 5]], lambda x: F.leaky_relu(x, 0.2)),
    ("leaky_relu default slope", [[3, 37]], F.leaky_relu),
    ("leaky_relu at 0", [integers(41)], F.leaky_relu),
    ("leaky_relu turned around", [wide(41)], lambda x: F.leaky_relu(x, -0.5)),
    ("relu6", [wide(2, 5, 3, 7)], F.relu6),
    ("relu6 at 0 and 6", [integers(2, 5, 3, 7)], F.relu6),
    ("hardswish", [wide(2, 5, 3, 7)], F.hardswish),
    ("hardswish at -3 and 3", [integers(2, 5, 3, 7)], F.hardswish),
    ("sigmoid", [wide(2, 5, 3, 7)], T.sigmoid),
    ("sigmoid of 131k", [LARGE], T.sigmoid),
    ("tanh", [wide(2, 3, 1, 17)], T.tanh),
    ("tanh rank 5", [[2, 1, 3, 2, 5]], T.tanh),
    ("chain", [positive(3, 1, 4, 1)], lambda x: T.exp(-T.sqrt(T.log(x + 1))) * x),
]

ARITHMETIC = [
    ("add", [[2, 3, 4, 5], [2, 3, 4, 5]], T.add),
    ("add rank 0 right", [[2, 3, 4, 5], []], T.add),
    ("add rank 0 left", [[], [2, 3, 4, 5]], T.add),
    ("add two of rank 0", [[], []], T.add),
    ("add row", [[2, 3, 4, 5], [5]], T.add),
    ("add column", [[2, 3, 4, 5], [4, 1]], T.add),
    ("add channel", [[2, 17, 4, 5], [1, 17, 1, 1]], T.add),
    ("add channel of rank 3 left", [[17, 1, 1], [2, 17, 4, 5]], T.add),
    ("add sample", [[3, 2, 4, 5], [3, 1, 1, 1]], T.add),
    ("add both repeated", [[2, 1, 4, 1], [1, 3, 1, 5]], T.add),
    ("add rank 5 and 2", [[2, 1, 3, 2, 4], [2, 1]], T.add),
    ("add rank 4 and 5", [[3, 2, 1, 4], [2, 1, 2, 5, 4]], T.add),
    ("add rank 1 repeated", [[17], [1]], T.add),
    ("add matrix and column", [[3, 7], [3, 1]], T.add),
    ("add outer", [[7, 1], [5]], T.add),
    ("sub", [[3, 1, 5], [2, 1]], T.sub),
    ("sub from a number", [[2, 3, 4, 1]], lambda x: 3 - x),
    ("mul", [[2, 3, 4, 5], [3, 1, 1]], T.mul),
    ("mul gate", [[2, 7, 3, 5], [2, 7, 1, 1]], T.mul),
    ("mul mask", [[2, 7, 3, 5], [2, 1, 3, 5]], T.mul),
    ("mul left smaller", [[1, 5], [2, 3, 4, 1]], T.mul),
    ("mul by itself", [[3, 5]], lambda x: x * x),
    ("mul by a number", [[2, 3, 4, 5]], lambda x: x * -1.5),
    ("mul channels of 131k", [LARGE, [64, 1, 1]], T.mul),
    ("mul pixels of 131k", [LARGE, [2, 1, 33, 31]], T.mul),
    ("div", [[2, 3, 4, 5], positive(3, 1, 5)], T.div),
    ("div left smaller", [positive(3, 1, 1), positive(2, 3, 4, 5)], T.div),
    ("div a number", [positive(3, 4)], lambda x: 2 / x),
    ("pow", [positive(2, 3, 4, 5), [4, 1]], T.pow),
    ("pow exponent larger", [positive(3, 1), [2, 3, 5]], T.pow),
    ("pow 2", [integers(2, 5, 7)], lambda x: x**2),
    ("pow 0.5", [positive(17)], lambda x: x**0.5),
    ("pow -3", [positive(2, 3, 1, 5)], lambda x: x**-3),
    ("pow exponent 0", [integers(37)], lambda x: x**0),
    ("pow base 0", [integers(5, 7), positive(7)], lambda x, y: T.relu(x) ** (y + 1)),
    ("maximum", [[2, 3, 4, 5], [3, 4, 1]], T.maximum),
    ("maximum ties", [integers(2, 17, 5, 3), integers(17, 1, 1)], T.maximum),
    ("minimum", [[4, 1], [2, 3, 4, 5]], T.minimum),
    ("minimum ties", [integers(17, 5), integers(5)], T.minimum),
    ("gt", [integers(2, 5, 4, 3), integers(5, 1, 3)], compared(T.gt)),
    ("gt a number", [integers(3, 7)], compared(T.gt)),
    ("number gt", [integers(3, 7)], compared(T.lt)),
    ("ge", [integers(2, 5, 4, 3), integers(2, 1, 4, 3)], compared(T.ge)),
    ("eq", [integers(2, 5, 4, 3), integers(3)], compared(T.eq)),
    ("gt is flat", [[3, 5], [3, 5]], compared(T.gt)),
    ("broadcast_to", [[3, 1]], lambda x: x.expand(2, 3, 4)),
    ("broadcast_to from rank 0", [[]], lambda x: x.expand(2, 3)),
    ("broadcast_to channels", [[1, 17, 1, 1]], lambda x: x.expand(2, 17, 3, 5)),
    ("broadcast_to rank 5", [[4, 1, 3]], lambda x: x.expand(2, 1, 4, 5, 3)),
]

REDUCTIONS = [
    ("sum of all", [[2, 3, 4, 5]], lambda x: x.sum()),
    ("sum rank 0", [[]], lambda x: x.sum()),
    ("sum rank 1", [[17]], lambda x: x.sum(0, keepdim=True)),
    ("sum channels away", [[2, 17, 4, 5]], lambda x: x.sum(1)),
    ("sum pixels", [[2, 17, 4, 5]], lambda x: x.sum((2, 3))),
    ("sum all but channels", [[2, 17, 4, 5]], lambda x: x.sum((0, 2, 3))),
    ("sum negative axes", [[2, 3, 5]], lambda x: x.sum((-1, 0), keepdim=True)),
    ("sum rank 5", [[2, 3, 2, 4, 3]], lambda x: x.sum((1, 3))),
    ("sum of 131k", [LARGE], lambda x: x.sum((0, 2, 3))),
    ("sum of all 131k", [LARGE], lambda x: x.sum()),
    ("mean of all", [[2, 3, 4, 5]], lambda x: x.mean()),
    ("mean pixels", [[2, 17, 4, 5]], lambda x: x.mean((2, 3), keepdim=True)),
    ("mean rows", [[7, 11]], lambda x: x.mean(0)),
    ("mean rank 3", [[3, 5, 7]], lambda x: x.mean(-1)),
    ("mean of 131k", [LARGE], lambda x: x.mean((-2, -1))),
    ("max of all", [different(2, 3, 4, 5)], T.amax),
    ("max of all ties", [integers(3, 5, 7)], T.amax),
    ("max pixels", [different(2, 17, 4, 5)], lambda x: x.amax((2, 3))),
    ("max channels ties", [integers(2, 17, 4, 5)], lambda x: x.amax(1, keepdim=True)),
    ("max rank 2", [different(7, 11)], lambda x: x.amax(-1)),
    ("max rank 5", [different(2, 3, 2, 4, 3)], lambda x: x.amax((0, 4))),
    ("softmax channels", [[2, 17, 3, 5]], lambda x: x.softmax(1)),
    ("softmax wide", [wide(2, 17, 3, 5)], lambda x: x.softmax(-3)),
    ("softmax last", [[2, 3, 7]], lambda x: x.softmax(-1)),
    ("softmax first", [[7, 3]], lambda x: x.softmax(0)),
    ("softmax rank 1", [[313]], lambda x: x.softmax(0)),
    ("softmax far from 0", [[3, 5]], lambda x: (x * 4 + 300).softmax(1)),
    ("softmax 313 bins", [wide(2, 313, 17, 13)], lambda x: x.softmax(1)),
    ("log_softmax channels", [[2, 17, 3, 5]], lambda x: x.log_softmax(1)),
    ("log_softmax wide", [wide(5, 31)], lambda x: x.log_softmax(1)),
    ("log_softmax rank 5", [[2, 3, 2, 4, 3]], lambda x: x.log_softmax(2)),
    ("log_softmax 313 bins", [wide(2, 313, 17, 13)], lambda x: x.log_softmax(1)),
    ("fake_quantize", [wide(17, 5, 3, 3)], fake_quantized(8, 0)),
    ("fake_quantize transposed", [wide(5, 17, 4, 4)], fake_quantized(4, 1)),
    ("fake_quantize rows", [wide(11, 7)], fake_quantized(4, 0)),
    ("fake_quantize whole", [wide(5, 3, 2, 3)], fake_quantized(8, None)),
    ("fake_quantize_input", [wide(2, 5, 7, 3), positive()],
     lambda x, scale: learned_fake_quantized(x * 20, scale * 0.5)),
    ("fake_quantize_input inside", [wide(3, 1031), positive()], learned_fake_quantized),
]

LAYOUTS = [
    ("reshape 4 to 1", [[2, 3, 4, 5]], lambda x: x.reshape(120)),
    ("reshape 4 to 2", [[2, 3, 4, 5]], lambda x: x.reshape(6, 20)),
    ("reshape 1 to 4", [[120]], lambda x: x.reshape(2, 3, 4, 5)),
    ("reshape 4 to 4", [[2, 3, 4, 5]], lambda x: x.reshape(5, 2, 3, 4)),
    ("reshape 4 to 5", [[2, 6, 4, 5]], lambda x: x.reshape(2, 3, 2, 4, 5)),
    ("reshape 5 to 4", [[2, 3, 2, 4, 5]], lambda x: x.reshape(2, 6, 4, 5)),
    ("reshape 4 to 3", [[2, 17, 4, 5]], lambda x: x.reshape(2, 17, 20)),
    ("reshape 3 to 4", [[2, 17, 20]], lambda x: x.reshape(2, 17, 5, 4)),
    ("reshape 2 to 4", [[7, 1]], lambda x: x.reshape(1, 7, 1, 1)),
    ("reshape 0 to 4", [[]], lambda x: x.reshape(1, 1, 1, 1)),
    ("reshape 4 to 0", [[1, 1, 1, 1]], lambda x: x.reshape([])),
    ("transpose matrix", [[3, 7]], lambda x: x.permute(1, 0)),
    ("transpose rank 3", [[2, 3, 7]], lambda x: x.permute(2, 0, 1)),
    ("transpose to last", [[2, 3, 4, 5]], lambda x: x.permute(0, 2, 3, 1)),
    ("transpose from last", [[2, 4, 5, 3]], lambda x: x.permute(0, 3, 1, 2)),
    ("transpose rank 4", [[2, 3, 4, 5]], lambda x: x.permute(3, 1, 0, 2)),
    ("transpose rank 5", [[2, 3, 1, 4, 5]], lambda x: x.permute(0, 3, 1, 4, 2)),
    ("transpose 131k", [LARGE], lambda x: x.permute(1, 3, 0, 2)),
    ("transpose computed square", [[37, 37]], lambda x: x.exp().permute(1, 0)),
    ("transpose meets itself", [[2, 5, 33, 33]], lambda x: x.exp().mT * 0.5 + x.exp()),
    ("reshape meets itself", [[1, 37]], lambda x: x.exp() + x.exp().reshape(37)),
    ("tokens", [[2, 6, 4, 5], [6, 7]], tokens),
    ("slice", [[3, 5, 7]], lambda x: x[1:3, 0:4, 2:7]),
    ("slice strides", [[3, 5, 7, 11]], lambda x: x[0:3:2, 1:5:3, 2:7, 0:10:4]),
    ("slice channels", [[2, 17, 3, 5]], lambda x: x[:, 3:11]),
    ("slice last axis", [[2, 17, 3, 5]], lambda x: x[..., 2:3]),
    ("slice rank 1", [[17]], lambda x: x[3:16:5]),
    ("subsample", [[2, 3, 7, 6]], lambda x: x[..., ::2, ::2]),
    ("subsample by 3 of 131k", [LARGE], lambda x: x[..., ::3, ::3]),
    ("slice_scatter", [[2, 3, 2]], pullback([3, 5, 7], lambda x: x[1:3, 0:5:2, 2:5:2])),
    (
        "slice_scatter pixels",
        [[2, 3, 3, 2]],
        pullback([2, 3, 6, 3], lambda x: x[..., ::2, ::2]),
    ),
    ("pad", [[2, 3, 4, 5]], padded(0, (0, 0), (0, 0), (1, 3), (2, 0))),
    ("pad with a number", [[2, 3, 4, 5]], padded(-2.5, (0, 1), (1, 2), (0, 0), (1, 0))),
    ("pad rank 1", [[7]], padded(1, (2, 3))),
    (
        "pad rank 5",
        [[2, 1, 3, 2, 2]],
        padded(0, (0, 1), (1, 0), (0, 0), (2, 0), (0, 3)),
    ),
    ("concat channels", [[2, 3, 4, 5], [2, 17, 4, 5]], lambda *x: T.cat(x, 1)),
    (
        "concat three",
        [[2, 1, 3, 5], [2, 4, 3, 5], [2, 2, 3, 5]],
        lambda *x: T.cat(x, 1),
    ),
    ("concat rows", [[2, 3, 4, 5], [2, 3, 1, 5]], lambda *x: T.cat(x, 2)),
    ("concat columns", [[2, 3, 4, 5], [2, 3, 4, 2]], lambda *x: T.cat(x, 3)),
    ("concat samples", [[1, 3, 4, 5], [2, 3, 4, 5]], lambda *x: T.cat(x, 0)),
    ("concat twice the same", [[2, 3, 5]], lambda x: T.cat([x, x], 2)),
    ("concat one", [[3, 5]], lambda x: T.cat([x], 0)),
    ("concat rank 1", [[3], [1], [7]], lambda *x: T.cat(x, 0)),
    ("concat of 131k", [[2, 32, 33, 31], [2, 32, 33, 31]], lambda *x: T.cat(x, 1)),
    ("pixel_shuffle", [[2, 12, 3, 5]], lambda x: F.pixel_shuffle(x, 2)),
    ("pixel_shuffle 3", [[1, 9, 2, 3]], lambda x: F.pixel_shuffle(x, 3)),
    ("pixel_shuffle 4 of 131k", [LARGE], lambda x: F.pixel_shuffle(x, 4)),
    ("pixel_unshuffle", [[2, 3, 6, 4]], lambda x: F.pixel_unshuffle(x, 2)),
    ("pixel_unshuffle 3", [[2, 1, 6, 9]], lambda x: F.pixel_unshuffle(x, 3)),
]

CONVOLUTIONS = [
    ("conv2d", [[2, 3, 7, 9], [4, 3, 3, 3], [4]], conv(padding=1)),
    ("conv2d no bias", [[2, 3, 7, 9], [4, 3, 3, 3]], conv()),
    ("conv2d stride 2 odd", [[2, 3, 9, 7], [4, 3, 3, 3]], conv(2, 1)),
    ("conv2d stride 2 with rows left", [[1, 3, 8, 10], [4, 3, 3, 3]], conv(2)),
    ("conv2d stride 1×3", [[2, 2, 5, 8], [3, 2, 3, 2]], conv((1, 3))),
    ("conv2d asymmetric padding", [[2, 3, 6, 5], [4, 3, 3, 3]], conv(2, (2, 1, 0, 1))),
    ("conv2d dilation 2", [[2, 3, 9, 8], [4, 3, 3, 3]], conv(1, 2, 2)),
    ("conv2d dilation 2 stride 2", [[1, 3, 9, 8], [4, 3, 3, 3]], conv(2, 0, 2)),
    ("conv2d dilation 1×3", [[1, 2, 5, 9], [3, 2, 2, 3]], conv(dilation=(1, 3))),
    ("conv2d groups 2", [[2, 4, 5, 7], [6, 2, 3, 3]], conv(1, 1, groups=2)),
    ("conv2d groups 3 stride 2", [[1, 6, 7, 5], [9, 2, 3, 3]], conv(2, groups=3)),
    ("conv2d depthwise", [[2, 17, 7, 5], [17, 1, 3, 3]], conv(1, 1, groups=17)),
    ("conv2d depthwise stride 2", [[2, 16, 7, 6], [16, 1, 3, 3]], conv(2, 1, groups=16)),
    ("conv2d depthwise 5×5", [[1, 8, 9, 7], [8, 1, 5, 5]], conv(1, 2, groups=8)),
    ("conv2d depthwise dilation 2", [[1, 5, 9, 7], [5, 1, 3, 3]], conv(1, 2, 2, 5)),
    ("conv2d depthwise two each", [[2, 3, 5, 5], [6, 1, 3, 3]], conv(1, 1, 1, 3)),
    ("conv2d depthwise bias", [[1, 9, 6, 5], [9, 1, 3, 3], [9]], conv(1, 1, 1, 9)),
    ("conv2d 1×1", [[2, 17, 5, 3], [11, 17, 1, 1]], conv()),
    ("conv2d 1×1 bias", [[2, 5, 4, 3], [313, 5, 1, 1], [313]], conv()),
    ("conv2d 1×1 stride 2", [[2, 5, 7, 6], [3, 5, 1, 1]], conv(2)),
    ("conv2d 1×1 padded", [[1, 3, 3, 2], [4, 3, 1, 1]], conv(1, 1)),
    ("conv2d 1×1 groups 2", [[2, 6, 3, 4], [4, 3, 1, 1]], conv(groups=2)),
    ("conv2d of one pixel", [[2, 5, 1, 1], [7, 5, 1, 1]], conv()),
    ("conv2d one pixel 3×3", [[1, 2, 1, 1], [3, 2, 3, 3]], conv(1, 1)),
    ("conv2d 2×2", [[2, 3, 5, 6], [4, 3, 2, 2]], conv()),
    ("conv2d 4×4 stride 2", [[1, 3, 8, 6], [4, 3, 4, 4]], conv(2, 1)),
    ("conv2d 5×3", [[1, 2, 8, 6], [3, 2, 5, 3]], conv(1, 1)),
    ("conv2d 7×7 stride 2", [[1, 3, 11, 13], [4, 3, 7, 7]], conv(2, 3)),
    ("conv2d as large as the picture", [[2, 3, 4, 5], [7, 3, 4, 5]], conv()),
    ("conv2d windows of padding", [[1, 2, 3, 2], [2, 2, 3, 3]], conv(1, 3)),
    ("conv2d one channel", [[2, 1, 7, 7], [1, 1, 3, 3]], conv(1, 1)),
    ("conv2d stride beyond kernel", [[1, 2, 9, 8], [3, 2, 2, 2]], conv(3)),
    ("conv2d 17 channels", [[1, 17, 6, 7], [19, 17, 3, 3]], conv(1, 1)),
    ("conv2d 64 channels", [[1, 64, 33, 31], [64, 64, 3, 3], [64]], conv(1, 1)),
    ("conv2d 64 channels stride 2", [LARGE, [72, 64, 3, 3]], conv(2, 1)),
    ("conv2d 64 channels dilation 2", [[1, 64, 33, 31], [65, 64, 3, 3]], conv(1, 2, 2)),
    ("conv2d 64 channels 1×1", [LARGE, [97, 64, 1, 1]], conv()),
    ("conv2d 64 channels depthwise", [LARGE, [64, 1, 3, 3]], conv(1, 1, groups=64)),
    (
        "conv2d 64 channels depthwise stride 2",
        [[2, 67, 33, 31], [67, 1, 5, 5]],
        conv(2, 2, groups=67),
    ),
    ("conv2d 64 channels groups 4", [[1, 64, 33, 31], [64, 16, 3, 3]], conv(1, 1, 1, 4)),
    ("conv2d first layer", [[2, 1, 66, 61], [64, 1, 3, 3]], conv(1, 1)),
    ("conv2d last layer", [[1, 128, 33, 31], [2, 128, 1, 1]], conv()),
    ("conv2d 3×3 tiles left over", [[2, 16, 13, 18], [48, 16, 3, 3]], conv(1, 1)),
    ("conv2d 3×3 no padding", [[1, 32, 19, 14], [32, 32, 3, 3]], conv()),
    ("conv2d 3×3 tiles dilation 2", [[1, 32, 17, 22], [16, 32, 3, 3]], conv(1, 2, 2)),
    ("conv2d 3×3 tiles dilation 3", [[2, 16, 24, 25], [16, 16, 3, 3]], conv(1, 1, 3)),
    (
        "conv2d 3×3 tiles asymmetric padding",
        [[1, 16, 12, 9], [16, 16, 3, 3]],
        lambda x, w: conv()(F.pad(x, (2, 1, 0, 2)), w),
    ),
    ("conv2d 3×3 small tiles", [[3, 32, 2, 2], [16, 32, 3, 3]], conv(1, 1)),
    ("conv2d 3×3 many channels", [[1, 192, 12, 11], [224, 192, 3, 3]], conv(1, 1)),
    ("conv2d many channels stride 2", [[1, 288, 7, 9], [96, 288, 3, 3]], conv(2, 1)),
    ("conv2d 4×4 tiles", [[2, 32, 19, 14], [48, 32, 4, 4]], conv(2, 1)),
    (
        "conv2d 4×4 tiles asymmetric padding",
        [[1, 64, 9, 12], [32, 64, 4, 4]],
        conv(2, (2, 1, 0, 2)),
    ),
    ("conv2d to 1 channel", [[1, 16, 7, 40], [1, 16, 3, 3]], conv(1, 2, 2)),
    ("conv2d to 2 channels", [[2, 16, 9, 19], [2, 16, 3, 3]], conv(1, 1)),
    ("conv2d to 3 channels", [[1, 37, 8, 21], [3, 37, 3, 3]], conv(2, 1)),
    ("conv2d to 4 channels", [[1, 20, 5, 6], [4, 20, 2, 3]], conv()),
    ("conv2d 17×17", [[1, 2, 19, 18], [2, 2, 17, 17]], conv()),
    ("conv_transpose2d 4×4", [[2, 3, 4, 5], [3, 4, 4, 4], [4]], transposed(2, 1)),
    ("conv_transpose2d 3×3", [[2, 3, 4, 5], [3, 4, 3, 3], [4]], transposed(2, 1, 1)),
    ("conv_transpose2d stride 1", [[2, 3, 4, 5], [3, 2, 3, 3]], transposed()),
    (
        "conv_transpose2d output padding 1×0",
        [[1, 2, 3, 4], [2, 3, 3, 3]],
        transposed(2, 1, (1, 0)),
    ),
    ("conv_transpose2d 2×2", [[1, 5, 3, 4], [5, 3, 2, 2]], transposed(2)),
    ("conv_transpose2d gaps", [[1, 2, 3, 4], [2, 3, 2, 2]], transposed(3)),
    ("conv_transpose2d dilation 2", [[1, 2, 4, 5], [2, 3, 3, 3]], transposed(dilation=2)),
    ("conv_transpose2d groups 2", [[2, 4, 3, 5], [4, 3, 4, 4]], transposed(2, 1, groups=2)),
    (
        "conv_transpose2d depthwise",
        [[1, 17, 3, 4], [17, 1, 4, 4]],
        transposed(2, 1, groups=17),
    ),
    (
        "conv_transpose2d asymmetric padding",
        [[2, 2, 4, 3], [2, 3, 4, 3]],
        lambda x, w: transposed(2)(x, w)[..., 1:, :-2],
    ),
    ("conv_transpose2d 1×1", [[2, 5, 3, 4], [5, 3, 1, 1]], transposed()),
    ("conv_transpose2d one pixel", [[1, 3, 1, 1], [3, 2, 4, 4]], transposed(2, 1)),
    (
        "conv_transpose2d 64 channels",
        [[2, 64, 17, 15], [64, 66, 4, 4], [66]],
        transposed(2, 1),
    ),
    ("conv_transpose2d 3×3 tiles", [[2, 16, 9, 14], [16, 32, 3, 3]], transposed(1, 1)),
    (
        "conv_transpose2d 4×4 tiles",
        [[2, 32, 9, 7], [32, 64, 4, 4], [64]],
        lambda *x: F.relu(transposed(2, 1)(*x)),
    ),
    ("conv_transpose2d 4×4 tiles whole", [[1, 16, 6, 4], [16, 32, 4, 4]], transposed(2)),
    (
        "conv_transpose2d 4×4 tiles output padding",
        [[1, 48, 5, 8], [48, 96, 4, 4]],
        transposed(2, 2, (0, 1)),
    ),
    ("conv_transpose2d 17×17", [[1, 2, 2, 3], [2, 2, 17, 17]], transposed()),
    (
        "conv_transpose2d 3×3 tiles dilation 2",
        [[1, 32, 9, 8], [32, 16, 3, 3]],
        transposed(dilation=2),
    ),
]

MATRICES = [
    ("matmul", [[5, 7], [7, 3]], T.matmul),
    ("matmul x transposed", [[7, 5], [7, 3]], lambda x, y: x.mT @ y),
    ("matmul y transposed", [[5, 7], [3, 7]], lambda x, y: x @ y.mT),
    ("matmul both transposed", [[7, 5], [3, 7]], lambda x, y: x.mT @ y.mT),
    ("matmul batches", [[2, 3, 5, 7], [2, 3, 7, 4]], T.matmul),
    ("matmul batches both transposed", [[3, 7, 5], [3, 4, 7]], lambda x, y: x.mT @ y.mT),
    ("matmul by one matrix", [[2, 5, 7], [7, 3]], T.matmul),
    ("matmul x transposed by one matrix", [[2, 7, 5], [7, 3]], lambda x, y: x.mT @ y),
    (
        "matmul both transposed by one matrix",
        [[2, 3, 7, 5], [4, 7]],
        lambda x, y: x.mT @ y.mT,
    ),
    ("matmul outer", [[17, 1], [1, 5]], T.matmul),
    ("matmul inner", [[1, 17], [17, 1]], T.matmul),
    ("matmul large", [[131, 257], [257, 99]], T.matmul),
    ("matmul large batches", [[3, 67, 129], [3, 129, 65]], T.matmul),
    ("linear", [[5, 7], [3, 7], [3]], F.linear),
    ("linear rank 3", [[2, 5, 7], [3, 7], [3]], F.linear),
    ("linear rank 4", [[2, 3, 5, 7], [4, 7], [4]], F.linear),
]

NORMALIZATIONS = [
    ("batch_norm", [[2, 5, 3, 4], [5], [5], [5], positive(5)], normalized()),
    ("batch_norm rank 2", [[7, 17], [17], [17], [17], positive(17)], normalized()),
    ("batch_norm rank 3", [[2, 5, 7], [5], [5], [5], positive(5)], normalized(1e-3)),
    ("batch_norm rank 5", [[2, 3, 2, 3, 2], [3], [3], [3], positive(3)], normalized()),
    ("batch_norm of 131k", [LARGE, [64], [64], [64], positive(64)], normalized()),
    ("batch_norm_training", [[2, 5, 3, 4], [5], [5]], normalized_training()),
    ("batch_norm_training rank 2", [[7, 17], [17], [17]], normalized_training()),
    ("batch_norm_training rank 3", [positive(2, 5, 7), [5], [5]], normalized_training(1e-3)),
    ("batch_norm_training rank 5", [[2, 3, 2, 3, 2], [3], [3]], normalized_training()),
    ("batch_norm_training one sample", [[1, 17, 3, 5], [17], [17]], normalized_training()),
    (
        "batch_norm_training of a convolution",
        [[3, 16, 9, 11], [32, 16, 3, 3], [32], [32]],
        lambda x, k, w, b: torch.tanh(normalized_training()(F.conv2d(x, k, padding=1), w, b)),
    ),
    (
        "batch_norm_training of a depthwise convolution",
        [[2, 17, 9, 7], [17, 1, 3, 3], [17], [17]],
        lambda x, k, w, b: torch.tanh(
            normalized_training()(F.conv2d(x, k, stride=2, groups=17), w, b)
        ),
    ),
    (
        "batch_norm_training of a sum",
        [[2, 5, 9, 7], [2, 5, 9, 7], [5], [5]],
        lambda x, z, w, b: z + torch.tanh(normalized_training()(x + z, w, b)),
    ),
    (
        "batch_norm_training far from 0",
        [wide(2, 3, 5, 5), [3], [3]],
        lambda x, w, b: normalized_training()(x + 100, w, b),
    ),
    ("batch_norm_training of 131k", [LARGE, [64], [64]], normalized_training()),
    ("batch_moments", [wide(2, 17, 5, 3), [17]], moments),
    ("batch_moments rank 2", [positive(11, 5), [5]], moments),
]

POOLS = [
    ("max_pool2d", [different(2, 3, 6, 4)], max_pool(2)),
    ("max_pool2d rows left", [different(2, 3, 7, 5)], max_pool(2)),
    ("max_pool2d padded", [different(2, 17, 7, 9)], max_pool(3, 2, 1)),
    ("max_pool2d overlapping", [different(1, 5, 6, 5)], max_pool(3, 1, 1)),
    ("max_pool2d 3×2", [different(1, 5, 7, 6)], max_pool((3, 2), (2, 1))),
    (
        "max_pool2d asymmetric padding",
        [different(2, 3, 6, 5)],
        lambda x: F.max_pool2d(F.pad(x, (1, 0, 0, 1), value=-9), 3, 2),
    ),
    ("max_pool2d of all", [different(2, 3, 4, 5)], max_pool((4, 5))),
    (
        "max_pool2d ties",
        [integers(2, 5, 9, 8)],
        lambda x: F.max_pool2d(clip(-1, 1)(x), 3, 2, 1),
    ),
    ("max_pool2d of 131k", [different(*LARGE)], max_pool(3, 2, 1)),
    ("avg_pool2d", [[2, 3, 6, 4]], avg_pool(2)),
    ("avg_pool2d rows left", [[2, 3, 7, 5]], avg_pool(2)),
    ("avg_pool2d padded", [[2, 17, 7, 9]], avg_pool(3, 2, 1)),
    ("avg_pool2d padding left out", [[2, 5, 7, 9]], avg_pool(3, 2, 1, False)),
    ("avg_pool2d overlapping", [[1, 5, 6, 5]], avg_pool((3, 2), 1)),
    (
        "avg_pool2d asymmetric padding",
        [[2, 3, 6, 5]],
        lambda x: F.avg_pool2d(F.pad(x, (1, 0, 0, 1)), 3, 2),
    ),
    ("avg_pool2d asymmetric padding left out", [[2, 3, 6, 5]], mean_of_present),
    ("avg_pool2d of 131k", [LARGE], avg_pool(3, 2, 1)),
    (
        "avg_pool2d_input",
        [[2, 3, 4, 5]],
        pullback([2, 3, 7, 9], avg_pool(3, 2, 1, False)),
    ),
    ("global_avg_pool2d", [[2, 17, 5, 3]], lambda x: F.adaptive_avg_pool2d(x, 1)),
]

UPSAMPLINGS = [
    ("upsample_bilinear2d 2", [[2, 3, 4, 5]], bilinear(2)),
    ("upsample_bilinear2d 2 aligned", [[2, 3, 4, 5]], bilinear(2, True)),
    ("upsample_bilinear2d 4", [[1, 17, 3, 2]], bilinear(4)),
    ("upsample_bilinear2d 4 aligned", [[1, 17, 3, 2]], bilinear(4, True)),
    ("upsample_bilinear2d 3×2", [[2, 2, 3, 5]], bilinear((3, 2))),
    ("upsample_bilinear2d 1×2 aligned", [[2, 2, 1, 5]], bilinear((1, 2), True)),
    ("upsample_bilinear2d 2 of 19 channels", [[2, 19, 3, 5]], bilinear(2)),
    ("upsample_bilinear2d 2 of two channels", [[2, 2, 3, 19]], bilinear(2)),
    ("upsample_bilinear2d 3×2 of 16 channels", [[1, 16, 2, 4]], bilinear((3, 2))),
    ("upsample_bilinear2d one pixel", [[1, 3, 1, 1]], bilinear(4)),
    ("upsample_bilinear2d of 65k", [[1, 64, 33, 31]], bilinear(2)),
    ("upsample_bilinear2d 4 of two channels", [[1, 2, 33, 31]], bilinear(4)),
    ("upsample_bilinear2d_input", [[2, 3, 6, 8]], pullback([2, 3, 3, 4], bilinear(2))),
    (
        "upsample_bilinear2d_input aligned",
        [[2, 3, 6, 8]],
        pullback([2, 3, 3, 4], bilinear(2, True)),
    ),
    ("upsample_nearest2d 2", [[2, 3, 4, 5]], lambda x: F.interpolate(x, scale_factor=2)),
    (
        "upsample_nearest2d 3×2",
        [[1, 17, 2, 3]],
        lambda x: F.interpolate(x, scale_factor=(3, 2)),
    ),
    (
        "upsample_nearest2d of 65k",
        [[1, 64, 33, 31]],
        lambda x: F.interpolate(x, scale_factor=2),
    ),
]

TABLE = (
    POINTWISE + ARITHMETIC + REDUCTIONS + LAYOUTS + CONVOLUTIONS + MATRICES
    + NORMALIZATIONS + POOLS + UPSAMPLINGS
)


def main():
    lines = []
    for name, specs, function in TABLE:
        digests = json.dumps(run(name, specs, function), separators=(",", ":"))
        lines.append(f"{json.dumps(name, ensure_ascii=False)}: {digests}")
    target = pathlib.Path(__file__).with_name("operations.json")
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
