#!/usr/bin/env python3
"""Writes neural networks of one layer for each output, and what PyTorch computes for them.

    python record_layers.py    # writes exact.mlmodel, rank5.mlmodel and layers.json here

exact.mlmodel maps arrays to values of the same axes, rank5.mlmodel to the five axes of the first
versions. Run it again only to change them: builders of other versions may write other bytes.
"""

import base64
import json
import pathlib

import coremltools as ct
import numpy as np
import torch
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
random = np.random.default_rng(5)
T = torch.from_numpy


def floats(*shape, low=-1, high=1):
    return random.uniform(low, high, shape).astype(np.float32)


class Recorder:
    """A network whose layers take its inputs, and the expected values of its outputs."""

    def __init__(self, inputs, exact):
        self.inputs, self.expected = inputs, {}
        features = [(name, datatypes.Array(*value.shape)) for name, value in inputs.items()]
        self.builder = NeuralNetworkBuilder(
            features, [("unset", None)], disable_rank5_shape_mapping=exact)
        del self.builder.spec.description.output[:]

    def add(self, method, name, expected, inputs=("image",), outputs=None, plural=None, **options):
        """One layer; `expected` is a list if the layer has several outputs."""
        several = isinstance(expected, (list, tuple))
        names = [f"{name}_{i}" for i in range(len(expected))] if several else [name]
        values = expected if several else [expected]
        for output, value in zip(names, values):
            value = value.detach().numpy() if isinstance(value, torch.Tensor) else value
            self.expected[output] = np.asarray(value, np.float32)
        arguments = dict(options, name=name)
        if inputs:
            key = "input_names" if plural or len(inputs) > 1 else "input_name"
            arguments[key] = list(inputs) if key == "input_names" else inputs[0]
        arguments["output_names" if several else "output_name"] = names if several else name
        getattr(self.builder, "add_" + method)(**arguments)
        for output, value in zip(names, values):
            self.output(output)

    def output(self, name):
        feature = self.builder.spec.description.output.add()
        feature.name = name
        feature.type.multiArrayType.dataType = datatypes_float32

    def write(self, name):
        ct.models.utils.save_spec(self.builder.spec, str(HERE / f"{name}.mlmodel"))
        pack = lambda values: {
            key: {"shape": list(value.shape), "values": base64.b64encode(value.tobytes()).decode()}
            for key, value in values.items()}
        return {"inputs": pack(self.inputs), "outputs": pack(self.expected)}


datatypes_float32 = ct.proto.FeatureTypes_pb2.ArrayFeatureType.FLOAT32


def hwio(weight):
    """A convolution's weight in the builder's order."""
    return np.transpose(weight, (2, 3, 1, 0))


def add_convolutions(net, x):
    """x is the image [N, 4, H, W] as PyTorch takes it."""
    w, b = floats(6, 2, 3, 2), floats(6)
    common = dict(kernel_channels=2, output_channels=6, height=3, width=2, groups=2)
    net.add("convolution", "conv_valid",
            F.conv2d(F.pad(T(x), (2, 0, 1, 3)), T(w), T(b), (2, 1), 0, (1, 2), 2),
            stride_height=2, stride_width=1, border_mode="valid", W=hwio(w), b=b, has_bias=True,
            dilation_factors=[1, 2], padding_top=1, padding_bottom=3, padding_left=2,
            padding_right=0, **common)
    for mode, pads in (("BOTTOM_RIGHT_HEAVY", (0, 1, 0, 1)), ("TOP_LEFT_HEAVY", (1, 0, 1, 0))):
        # H = 6, kernel 3, stride 2: one row; W = 8, kernel 2, stride 1: one column.
        net.add("convolution", "conv_same_" + mode.lower(),
                F.conv2d(F.pad(T(x), pads), T(w), None, (2, 1), 0, 1, 2),
                stride_height=2, stride_width=1, border_mode="same", W=hwio(w), b=None,
                has_bias=False, same_padding_asymmetry_mode=mode, **common)
    w, b = floats(4, 3, 4, 3), floats(6)
    deconvolution = dict(
        kernel_channels=4, output_channels=6, height=4, width=3, groups=2, stride_height=2,
        stride_width=3, W=np.transpose(w, (2, 3, 0, 1)), has_bias=True, b=b, is_deconv=True)
    full = F.conv_transpose2d(T(x), T(w), T(b), (2, 3), 0, 0, 2)
    net.add("convolution", "deconv_valid", full[:, :, 1:-2, :-1], border_mode="valid",
            padding_top=1, padding_bottom=2, padding_left=0, padding_right=1, **deconvolution)
    net.add("convolution", "deconv_same", full[:, :, 1:-1], border_mode="same", **deconvolution)
    net.add("convolution", "deconv_to_shape", full[:, :, :-1], border_mode="valid",
            output_shape=(full.shape[2] - 1, full.shape[3]), **deconvolution)


def add_activations(net, x):
    x, alpha, beta = T(x), floats(4), floats(4)
    channels = lambda v: T(v)[:, None, None]
    for name, kind, parameters, expected in (
        ("relu", "RELU", None, x.relu()),
        ("leaky", "LEAKYRELU", [0.2], F.leaky_relu(x, 0.2)),
        ("tanh", "TANH", None, x.tanh()),
        ("scaled_tanh", "SCALED_TANH", [1.7, 0.6], 1.7 * (0.6 * x).tanh()),
        ("sigmoid", "SIGMOID", None, x.sigmoid()),
        ("sigmoid_hard", "SIGMOID_HARD", [0.3, 0.4], (0.3 * x + 0.4).clamp(0, 1)),
        ("elu", "ELU", 0.7, F.elu(x, 0.7)),
        ("softsign", "SOFTSIGN", None, F.softsign(x)),
        ("softplus", "SOFTPLUS", None, F.softplus(x)),
        ("linear", "LINEAR", [2.0, -0.5], 2 * x - 0.5),
        ("thresholded", "THRESHOLDEDRELU", 0.3, F.threshold(x, 0.3, 0)),
        ("prelu", "PRELU", alpha, F.prelu(x, T(alpha))),
        ("prelu_one", "PRELU", alpha[:1], F.prelu(x, T(alpha[:1]))),
        ("parametric_softplus", "PARAMETRICSOFTPLUS", [alpha, beta],
         channels(alpha) * F.softplus(x * channels(beta))),
    ):
        net.add("activation", name, expected, non_linearity=kind, params=parameters)


def add_pooling(net, x):
    x = T(x)
    window = dict(height=3, width=2, stride_height=2, stride_width=2)
    none = dict(padding_type="VALID", exclude_pad_area=False)
    net.add("pooling", "max", F.max_pool2d(x, (3, 2), 2), layer_type="MAX", **window, **none)
    net.add("pooling", "max_padded", F.max_pool2d(F.pad(x, (0, 1, 1, 0), value=-1e9), (3, 2), 2),
            layer_type="MAX", padding_top=1, padding_right=1, **window, **none)
    net.add("pooling", "mean_padded", F.avg_pool2d(x, (3, 2), 2, (1, 1)), layer_type="AVERAGE",
            padding_top=1, padding_right=1, padding_bottom=1, padding_left=1, **window, **none)
    net.add("pooling", "mean_without_padding",
            F.avg_pool2d(x, (3, 2), 2, (1, 1), count_include_pad=False), layer_type="AVERAGE",
            padding_top=1, padding_right=1, padding_bottom=1, padding_left=1, padding_type="VALID",
            exclude_pad_area=True, **window)
    net.add("pooling", "length", F.avg_pool2d(x * x, (3, 2), 2).mul(6).sqrt(), layer_type="L2",
            **window, **none)
    net.add("pooling", "max_same", F.max_pool2d(F.pad(x, (0, 0, 0, 1), value=-1e9), (3, 2), 2),
            layer_type="MAX", padding_type="SAME", exclude_pad_area=False, **window)
    last = dict(padding_type="INCLUDE_LAST_PIXEL", height=3, width=3, stride_height=2,
                stride_width=2)
    net.add("pooling", "max_last", F.max_pool2d(x, 3, 2, ceil_mode=True), layer_type="MAX",
            exclude_pad_area=False, **last)
    net.add("pooling", "mean_last",
            F.avg_pool2d(x, 3, 2, ceil_mode=True, count_include_pad=False), layer_type="AVERAGE",
            exclude_pad_area=True, **last)
    net.add("pooling", "max_last_padded", F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
            layer_type="MAX", exclude_pad_area=False, padding_top=1, padding_bottom=1,
            padding_left=1, padding_right=1, **last)
    whole = dict(height=1, width=1, stride_height=1, stride_width=1, padding_type="VALID",
                 is_global=True)
    net.add("pooling", "max_global", x.amax((2, 3), True), layer_type="MAX", **whole)
    net.add("pooling", "mean_global", x.mean((2, 3), True), layer_type="AVERAGE", **whole)
    net.add("pooling", "length_global", (x * x).sum((2, 3), True).sqrt(), layer_type="L2", **whole)


def add_images(net, x):
    """Padding, resizing, scales and normalizations."""
    x = T(x)
    for kind, mode in (("constant", "constant"), ("reflection", "reflect"),
                       ("replication", "replicate")):
        net.add("padding", "pad_" + mode,
                F.pad(x, (1, 2, 3, 0), mode, **({"value": 0.5} if mode == "constant" else {})),
                left=1, right=2, top=3, bottom=0, padding_type=kind,
                value=0.5 if mode == "constant" else 0)
    net.add("upsample", "nearest", F.interpolate(x, scale_factor=(2, 3)), scaling_factor_h=2,
            scaling_factor_w=3, mode="NN")
    size = (12, 24)
    for name, mode, aligned in (("true", "ALIGN_CORNERS_TRUE", True),
                                ("false", "ALIGN_CORNERS_FALSE", False)):
        net.add("upsample", "bilinear_" + name,
                F.interpolate(x, size, mode="bilinear", align_corners=aligned),
                scaling_factor_h=2, scaling_factor_w=3, mode="BILINEAR", linear_upsample_mode=mode)
    net.add("upsample", "bilinear_default", legacy(x, size), scaling_factor_h=2,
            scaling_factor_w=3, mode="BILINEAR", linear_upsample_mode="DEFAULT")
    net.add("resize_bilinear", "resize_strict",
            F.interpolate(x, (9, 5), mode="bilinear", align_corners=True), target_height=9,
            target_width=5, mode="STRICT_ALIGN_ENDPOINTS_MODE")
    net.add("resize_bilinear", "resize_aligned",
            F.interpolate(x, (9, 5), mode="bilinear", align_corners=True), target_height=9,
            target_width=5, mode="ALIGN_ENDPOINTS_MODE")
    net.add("resize_bilinear", "resize_upsample", legacy(x, (9, 5)), target_height=9,
            target_width=5, mode="UPSAMPLE_MODE")
    gamma, beta, mean = floats(4), floats(4), floats(4)
    variance = floats(4, low=0.5, high=2)
    net.add("batchnorm", "batch_norm",
            F.batch_norm(x, T(mean), T(variance), T(gamma), T(beta), eps=1e-3), channels=4,
            gamma=gamma, beta=beta, mean=mean, variance=variance, epsilon=1e-3)
    net.add("batchnorm", "instance_norm", F.instance_norm(x, None, None, T(gamma), T(beta)),
            channels=4, gamma=gamma, beta=beta, compute_mean_var=True,
            instance_normalization=True)
    for across, axes in ((True, (1, 2, 3)), (False, (2, 3))):
        centered = x - x.mean(axes, True)
        spread = ((centered ** 2).mean(axes, True) + 1e-3).sqrt()
        net.add("mvn", f"mvn_{across}".lower(), centered / spread, across_channels=across,
                normalize_variance=True, epsilon=1e-3)
    net.add("mvn", "mean_subtracted", x - x.mean((2, 3), True), across_channels=False,
            normalize_variance=False)
    net.add("l2_normalize", "l2_normalized", x / ((x * x).sum((1, 2, 3), True) + 1e-4).sqrt(),
            epsilon=1e-4)
    net.add("lrn", "lrn", F.local_response_norm(x, 3, 0.5, 0.7, 2.0), alpha=0.5, beta=0.7,
            local_size=3, k=2.0)
    net.add("softmax", "softmax", x.softmax(1))
    scale, bias, plane = floats(4), floats(4, 6, 8), floats(1, 6, 8)
    net.add("scale", "scaled", x * T(scale)[:, None, None] + T(bias), W=scale, b=bias,
            has_bias=True, shape_scale=[4], shape_bias=[4, 6, 8])
    net.add("bias", "biased", x + T(plane), b=plane, shape_bias=[1, 6, 8])


def legacy(x, size):
    """Bilinear resizing with output i at i · in / out."""
    for axis, (count, extent) in enumerate(zip(size, x.shape[2:])):
        position = torch.arange(count, dtype=torch.float64) * extent / count
        low = position.floor().long()
        part = (position - low).float()
        low, high = low.clamp(max=extent - 1), (low + 1).clamp(max=extent - 1)
        shape = [-1, 1] if axis == 0 else [-1]
        part = part.reshape(shape)
        x = x.index_select(axis + 2, low) * (1 - part) + x.index_select(axis + 2, high) * part
    return x


def add_common(net, x):
    """Layers of the first versions that treat both mappings alike, with four axes here."""
    add_convolutions(net, x)
    add_activations(net, x)
    add_pooling(net, x)
    add_images(net, x)
    t = T(x)
    second = net.inputs["second"].reshape(x.shape)
    both = ("image", "second")
    for mode, expected in (
        ("ADD", t + T(second)), ("MULTIPLY", t * T(second)), ("AVE", (t + T(second)) / 2),
        ("MAX", t.maximum(T(second))), ("MIN", t.minimum(T(second))),
    ):
        net.add("elementwise", "both_" + mode.lower(), expected, both, mode=mode)
    net.add("elementwise", "plus", t + 0.75, mode="ADD", alpha=0.75, plural=True)
    net.add("elementwise", "times", t * 0.75, mode="MULTIPLY", alpha=0.75, plural=True)
    net.add("elementwise", "concatenated", torch.cat([t, T(second)], 1), both, mode="CONCAT")
    for name, mode, options, expected in (
        ("sqrt", "sqrt", dict(shift=2), (t + 2).sqrt()),
        ("rsqrt", "rsqrt", dict(shift=2, epsilon=0.1), (t + 2.1).rsqrt()),
        ("inverse", "inverse", dict(shift=2, epsilon=0.1), 1 / (t + 2.1)),
        ("power", "power", dict(alpha=3), t ** 3),
        ("exp", "exp", dict(scale=0.5, shift=0.1), (0.5 * t + 0.1).exp()),
        ("log", "log", dict(shift=2), (t + 2).log()),
        ("abs", "abs", {}, t.abs()),
        ("threshold", "threshold", dict(alpha=0.2), t.clamp(min=0.2)),
    ):
        net.add("unary", "unary_" + name, expected, mode=mode, **options)
    net.add("split", "parts", list(t.split(2, 1)))
    for mode, order in (("CHANNEL", "channel"), ("HEIGHT", "height"), ("WIDTH", "width")):
        axis = ["channel", "height", "width"].index(order) + 1
        length = t.shape[axis]
        net.add("slice", "slice_" + order,
                t.index_select(axis, torch.arange(1, length - 1, 2)), axis=order, start_index=1,
                end_index=-1, stride=2)
    net.add("crop", "cropped", t[:, :, 1:-2, 2:-1], left=2, right=1, top=1, bottom=2,
            offset=[0, 0], plural=True)
    small = T(net.inputs["small"]).reshape(1, 4, 2, 4)
    net.add("crop", "cropped_like", t[:, :, 1:3, 2:6], ("image", "small"), left=0, right=0, top=0,
            bottom=0, offset=[1, 2])
    net.add("reorganize_data", "to_depth",
            t.reshape(1, 4, 3, 2, 4, 2).permute(0, 3, 5, 1, 2, 4).reshape(1, 16, 3, 4),
            mode="SPACE_TO_DEPTH", block_size=2)
    net.add("reorganize_data", "to_space",
            t.reshape(1, 2, 2, 1, 6, 8).permute(0, 3, 4, 1, 5, 2).reshape(1, 1, 12, 16),
            mode="DEPTH_TO_SPACE", block_size=2)
    net.add("reorganize_data", "shuffled", F.pixel_shuffle(t, 2), mode="PIXEL_SHUFFLE",
            block_size=2)
    w, b = floats(5, 192), floats(5)
    net.add("inner_product", "dense",
            F.linear(t.reshape(1, -1), T(w), T(b)).reshape(1, 5, 1, 1), W=w, b=b,
            input_channels=192, output_channels=5, has_bias=True)
    net.add("flatten", "flat", t.reshape(1, -1, 1, 1), mode=0)
    net.add("flatten", "flat_last", t.permute(0, 2, 3, 1).reshape(1, -1, 1, 1), mode=1)
    for name, mode, axis, expected in (
        ("sum", "sum", "CHW", t.sum((1, 2, 3), True)),
        ("mean", "avg", "HW", t.mean((2, 3), True)),
        ("product", "prod", "C", t.prod(1, True)),
        ("squares", "sumsquare", "H", (t * t).sum(2, True)),
        ("l1", "L1", "W", t.abs().sum(3, True)),
        ("l2", "L2", "C", (t * t).sum(1, True).sqrt()),
        ("largest", "max", "HW", t.amax((2, 3), True)),
        ("smallest", "min", "W", t.amin(3, True)),
        ("argmax", "argmax", "C", t.argmax(1, True)),
    ):
        net.add("reduce", "reduce_" + name, expected, mode=mode, axis=axis)
    net.add("reduce", "reduce_logs", (T(net.inputs["positive"].reshape(x.shape)) + 1e-2).log()
            .sum(1, True), ("positive",), mode="logsum", axis="C", epsilon=1e-2)


def exact():
    image = floats(1, 4, 6, 8)
    inputs = {
        "image": image, "second": floats(1, 4, 6, 8), "small": floats(1, 4, 2, 4),
        "positive": floats(1, 4, 6, 8, low=0.1), "row": floats(5), "matrix": floats(3, 5),
        "tall": floats(6, 3),
        "cube": floats(2, 3, 5), "volume": floats(1, 2, 4, 5, 6),
        "numbers": np.array([[2, 0], [1, 3]], np.float32),
        "steps": floats(5, 2, 3, 1, 1), "hidden": floats(1, 2, 4, 1, 1),
        "cell": floats(1, 2, 4, 1, 1),
        "sequence": np.array([2, 0, 3], np.float32).reshape(3, 1, 1, 1),
    }
    net = Recorder(inputs, exact=True)
    add_common(net, image)
    t = {name: T(value) for name, value in inputs.items()}
    image, second, positive = t["image"], t["second"], t["positive"]
    for name in ("ceil", "floor", "sign", "round", "sin", "cos", "tan", "asin", "acos", "atan",
                 "sinh", "cosh", "tanh", "asinh", "atanh", "erf", "exp2"):
        net.add(name, "f_" + name, getattr(torch, name)(image))
    net.builder.add_elementwise(name="above", input_names=["positive"], output_name="above",
                                mode="ADD", alpha=1.0)
    net.add("acosh", "f_acosh", torch.acosh(positive + 1), ("above",))
    net.add("copy", "copied", image)
    net.add("clip", "clipped", image.clamp(-0.3, 0.6), min_value=-0.3, max_value=0.6)
    net.add("clamped_relu", "clamped", F.leaky_relu(image, 0.1).clamp(max=0.4), alpha=0.1,
            beta=0.4)
    for mode, expected in (("EXACT", F.gelu(image)),
                           ("TANH_APPROXIMATION", F.gelu(image, approximate="tanh")),
                           ("SIGMOID_APPROXIMATION", image * (1.702 * image).sigmoid())):
        net.add("gelu", "gelu_" + mode.lower(), expected, mode=mode)
    row = t["row"]
    cube = t["cube"]
    pair = ("cube", "row")
    for name, expected in (
        ("add_broadcastable", cube + row), ("subtract_broadcastable", cube - row),
        ("multiply_broadcastable", cube * row), ("divide_broadcastable", cube / row),
        ("floor_div_broadcastable", torch.floor(cube / row)),
        ("mod_broadcastable", torch.remainder(cube, row)),
        ("max_broadcastable", cube.maximum(row)), ("min_broadcastable", cube.minimum(row)),
    ):
        net.add(name, name, expected, pair)
    net.add("pow_broadcastable", "powers", positive ** image, ("positive", "image"))
    net.add("greater_than", "greater", cube > row, pair)
    net.add("greater_than", "greater_equal", cube >= 0.1, ("cube",), alpha=0.1, plural=True,
            use_greater_than_equal=True)
    net.add("less_than", "less", cube < row, pair)
    net.add("less_than", "less_equal", cube <= 0.1, ("cube",), alpha=0.1, plural=True,
            use_less_than_equal=True)
    net.add("equal", "equal", cube == cube, ("cube", "cube"))
    net.add("not_equal", "not_equal", cube != row, pair)
    logical = (image > 0, second > 0)
    net.add("greater_than", "truth", logical[0], alpha=0.0, plural=True)
    net.add("greater_than", "truth2", logical[1], ("second",), alpha=0.0, plural=True)
    for mode, expected in (("AND", logical[0] & logical[1]), ("OR", logical[0] | logical[1]),
                           ("XOR", logical[0] ^ logical[1])):
        net.add("logical", "logical_" + mode.lower(), expected, ("truth", "truth2"), mode=mode)
    net.add("logical", "logical_not", ~logical[0], ("truth",), mode="NOT", plural=True)
    net.add("where_broadcastable", "chosen", torch.where(logical[0], second, positive),
            ("truth", "second", "positive"))
    # Shapes and parts.
    net.add("transpose", "transposed", image.permute(0, 2, 3, 1), axes=[0, 2, 3, 1])
    net.add("softmax_nd", "softmax_nd", cube.softmax(1), ("cube",), axis=-2)
    net.add("concat_nd", "concat_nd", torch.cat([cube, cube], 1), ("cube", "cube"), axis=1)
    net.add("stack", "stacked", torch.stack([cube, cube], 1), ("cube", "cube"), axis=1)
    net.add("split_nd", "split_nd", list(cube.split([2, 3], 2)), ("cube",), axis=-1, num_splits=2,
            split_sizes=[2, 3])
    net.add("slice_static", "sliced", cube[1, :2, 1::2], ("cube",), begin_ids=[1, 0, 1],
            end_ids=[2, -1, 5], strides=[1, 1, 2], begin_masks=[False, False, False],
            end_masks=[False, False, True], squeeze_masks=[True, False, False])
    net.add("tile", "tiled", cube.tile(1, 2, 3), ("cube",), reps=[1, 2, 3])
    net.add("reverse", "reversed", cube.flip(0, 2), ("cube",), reverse_dim=[True, False, True])
    net.add("squeeze", "squeezed", image[0], axes=[0])
    net.add("squeeze", "squeezed_all", image[0], squeeze_all=True)
    net.add("expand_dims", "expanded", cube[:, None, :, None], ("cube",), axes=[1, 3])
    net.add("flatten_to_2d", "flat_2d", cube.reshape(6, 5), ("cube",), axis=2)
    net.add("flatten_to_2d", "flat_2d_end", cube.reshape(2, 15), ("cube",), axis=-2)
    net.add("reshape_static", "reshaped", cube.reshape(5, 6), ("cube",), output_shape=[5, 6])
    net.add("rank_preserving_reshape", "reshaped_alike", cube.reshape(2, 5, 3), ("cube",),
            output_shape=[0, 5, -1])
    net.add("reshape_like", "reshaped_like", image.reshape(second.shape), ("image", "second"))
    net.add("broadcast_to_static", "broadcast", row.expand(2, 3, 5), ("row",),
            output_shape=[2, 3, 5])
    net.add("broadcast_to_like", "broadcast_like", row.expand(2, 3, 5), ("row", "cube"))
    net.add("fill_like", "filled_like", torch.full_like(cube, 1.5), ("cube",), value=1.5)
    net.add("fill_static", "filled", torch.full((2, 3), 2.5), (), output_shape=[2, 3], value=2.5)
    net.add("range_static", "range", np.arange(1, 6, 1.5), (), start=1, end=6, step=1.5)
    net.add("get_shape", "shape", np.array([2, 3, 5]), ("cube",))
    constant = floats(2, 3)
    net.add("load_constant_nd", "constant", constant, (), constant_value=constant, shape=[2, 3])
    net.add("constant_pad", "padded_nd", F.pad(cube, (1, 0, 0, 2), value=0.25), ("cube",),
            value=0.25, pad_to_given_output_size_mode=False, pad_amounts=[0, 0, 0, 2, 1, 0],
            plural=True)
    # Products.
    matrix = t["matrix"]
    w, b = floats(5, 4), floats(4)
    net.add("batched_mat_mul", "product", cube @ T(w) + T(b), ("cube",), W=w, bias=b,
            weight_matrix_rows=5, weight_matrix_columns=4, plural=True)
    net.add("batched_mat_mul", "products", cube @ matrix.T, ("cube", "matrix"), transpose_b=True)
    net.add("batched_mat_mul", "products_of_vectors", (cube @ row)[..., None], ("cube", "row"))
    w, b = floats(7, 5), floats(7)
    net.add("inner_product", "dense_of_matrix", F.linear(matrix, T(w), T(b)), ("matrix",), W=w,
            b=b, input_channels=5, output_channels=7, has_bias=True)
    net.add("inner_product", "dense_of_row", F.linear(row, T(w)), ("row",), W=w, b=None,
            input_channels=5, output_channels=7, has_bias=False)
    w, b = floats(3, 4), floats(3)
    indices = T(inputs["numbers"]).long()
    net.builder.add_expand_dims(
        name="column", input_name="numbers", output_name="column", axes=[2])
    net.add("embedding_nd", "embedded_nd", T(w).T[indices] + T(b), ("column",), vocab_size=4,
            embedding_size=3, W=w, b=b)
    net.add("embedding", "embedded", (T(w).T[[2, 0, 3]] + T(b)).reshape(3, 3, 1, 1),
            ("sequence",), W=w, b=b, input_dim=4, output_channels=3, has_bias=True)
    # Selections.
    net.add("load_constant_nd", "indices", np.array([2, 0]), (), constant_value=np.array(
        [2, 0], np.float32), shape=[2])
    net.add("gather", "gathered", cube[:, [2, 0]], ("cube", "indices"), axis=1)
    net.add("gather", "gathered_computed", image[:, indices], ("image", "numbers"), axis=1)
    net.builder.add_slice_static(
        name="corner", input_name="tall", output_name="corner", begin_ids=[0, 0], end_ids=[4, 2],
        strides=[1, 1], begin_masks=[False, False], end_masks=[False, False])
    corner = t["tall"][:4, :2]
    net.add("gather_along_axis", "gathered_along", corner.gather(0, indices),
            ("corner", "numbers"), axis=0)
    net.builder.add_load_constant_nd(
        name="pairs", output_name="pairs", constant_value=np.array([[2, 0], [1, 1]], np.float32),
        shape=[2, 2])
    net.add("gather_nd", "gathered_nd", corner[[2, 1], [0, 1]], ("corner", "pairs"))
    # Reductions.
    for name, options, expected in (
        ("sum", dict(axes=[0, -1]), cube.sum((0, 2))), ("mean", dict(axes=[1]), cube.mean(1)),
        ("prod", dict(axes=[1]), cube.prod(1)), ("max", dict(axes=[1]), cube.amax(1)),
        ("min", dict(axes=[1]), cube.amin(1)), ("l1", dict(axes=[1]), cube.abs().sum(1)),
        ("l2", dict(axes=[1]), (cube ** 2).sum(1).sqrt()),
        ("sumsquare", dict(axes=[1]), (cube ** 2).sum(1)),
        ("logsumexp", dict(axes=[1]), cube.logsumexp(1)),
        ("sum", dict(reduce_all=True), cube.sum().reshape(1)),
    ):
        suffix = "_all" if "reduce_all" in options else "_nd"
        net.add("reduce_" + name, f"reduce_{name}{suffix}", expected, ("cube",), keepdims=False,
                **options)
    net.add("reduce_logsum", "reduce_logsum_nd", positive.sum(2, True).log(), ("positive",),
            axes=[2], keepdims=True)
    net.add("argmax", "argmax_nd", cube.argmax(1), ("cube",), axis=1, keepdims=False)
    net.add("argmin", "argmin_nd", cube.argmin(1, True), ("cube",), axis=1, keepdims=True)
    net.add("argsort", "sorted", cube.argsort(2, descending=True), ("cube",), axis=2,
            descending=True)
    top = cube.topk(2, 2)
    net.add("topk", "top", [top.values, top.indices], ("cube",), k=2, axis=2, plural=True)
    net.add("cumsum", "sums", cube.cumsum(1), ("cube",), axis=1, plural=True)
    gamma, beta = floats(3, 5), floats(3, 5)
    net.add("layer_normalization", "layer_norm",
            F.layer_norm(cube, (3, 5), T(gamma), T(beta), 1e-4), ("cube",),
            normalized_shape=[3, 5], gamma=gamma, beta=beta, eps=1e-4)
    net.add("matrix_band_part", "band", cube.tril(1).triu(-1), ("cube",), num_lower=1, num_upper=1)
    net.add("lower_triangular", "lower", cube.tril(1), ("cube",), k=1)
    net.add("upper_triangular", "upper", cube.triu(-1), ("cube",), k=-1)
    add_volumes(net, t["volume"])
    add_lstm(net, t["steps"], t["hidden"], t["cell"])
    return net.write("exact")


def add_volumes(net, volume):
    w, b = floats(4, 1, 3, 2, 3), floats(4)
    net.add("convolution3d", "conv3d",
            F.conv3d(F.pad(volume, (0, 2, 1, 1, 1, 0)), T(w), T(b), (2, 1, 2), 0, (1, 2, 1), 2),
            ("volume",), input_channels=2, output_channels=4, depth=3, height=2, width=3,
            W=w, b=b, has_bias=True, groups=2, stride_depth=2,
            stride_height=1, stride_width=2, dilation_depth=1, dilation_height=2,
            dilation_width=1, padding_mode="custom", padding_front=1, padding_back=0,
            padding_top=1, padding_bottom=1, padding_left=0, padding_right=2)
    net.add("pooling3d", "max3d", F.max_pool3d(volume, (2, 3, 2), (1, 2, 2)), ("volume",),
            pooling_type="MAX", kernel_depth=2, kernel_height=3, kernel_width=2, stride_depth=1,
            stride_height=2, stride_width=2)
    net.add("global_pooling3d", "mean3d", volume.mean((2, 3, 4), True), ("volume",),
            pooling_type="AVERAGE")


def add_lstm(net, steps, state, cell):
    lstm = torch.nn.LSTM(3, 4)
    order = [0, 1, 3, 2]  # PyTorch's gates are input, forget, cell, output
    gates = lambda values: [values.detach().numpy().reshape(4, 4, -1)[g] for g in order]
    options = dict(
        W_x=gates(lstm.weight_ih_l0), W_h=gates(lstm.weight_hh_l0), hidden_size=4, input_size=3,
        b=[b[:, 0] for b in gates(lstm.bias_ih_l0 + lstm.bias_hh_l0)])
    x, initial = steps[..., 0, 0], (state[..., 0, 0], cell[..., 0, 0])
    column = lambda values: values[..., None, None]
    for reverse in (False, True):
        y, (h, c) = lstm(x.flip(0) if reverse else x, initial)
        y = y.flip(0) if reverse else y
        net.add("unilstm", f"lstm_{reverse}".lower(), [column(y), column(h), column(c)],
                ("steps", "hidden", "cell"), output_all=True, reverse_input=reverse, **options)
    net.add("unilstm", "lstm_last", [column(lstm(x)[1][0]), column(lstm(x)[1][0]),
                                     column(lstm(x)[1][1])], ("steps",), plural=True, **options)


def rank5():
    image = floats(4, 6, 8)
    inputs = {"image": image, "second": floats(4, 6, 8), "small": floats(4, 2, 4),
              "positive": floats(4, 6, 8, low=0.1), "vector": floats(7), "other": floats(7)}
    net = Recorder(inputs, exact=False)
    add_common(net, image[None])
    # Arrays come back as [C, H, W], or as [C].
    for name, value in net.expected.items():
        value = value[0]
        net.expected[name] = value.reshape(-1) if value.shape[1:] == (1, 1) else value
    t, vector, other = T(image), T(inputs["vector"]), T(inputs["other"])
    net.add("permute", "permuted", t.permute(2, 0, 1), dim=(0, 3, 1, 2))
    net.add("reshape", "reshaped", t.reshape(8, 4, 6), target_shape=(8, 4, 6), mode=0)
    net.add("reshape", "reshaped_last",
            t.permute(1, 2, 0).reshape(4, 6, 8).permute(2, 0, 1), target_shape=(8, 4, 6), mode=1)
    net.add("sequence_repeat", "repeated", torch.stack([t, t])[:, None], nrep=2)
    net.add("elementwise", "along_sequence", torch.stack([t, T(inputs["second"])])[:, None],
            ("image", "second"), mode="SEQUENCE_CONCAT")
    constant = floats(4, 6, 8)
    net.builder.add_load_constant(name="constant", output_name="constant",
                                  constant_value=constant, shape=[4, 6, 8])
    net.add("elementwise", "plus_constant", t + T(constant), ("image", "constant"), mode="ADD")
    w, b = floats(3, 7), floats(3)
    net.add("inner_product", "dense_of_vector", F.linear(vector, T(w), T(b)), ("vector",), W=w,
            b=b, input_channels=7, output_channels=3, has_bias=True)
    net.add("elementwise", "dot", (vector @ other).reshape(1), ("vector", "other"), mode="DOT")
    net.add("elementwise", "cosine", F.cosine_similarity(vector, other, 0).reshape(1),
            ("vector", "other"), mode="COS")
    return net.write("rank5")


if __name__ == "__main__":
    recorded = {"exact": exact(), "rank5": rank5()}
    (HERE / "layers.json").write_text(json.dumps(recorded, separators=(",", ":")) + "\n")
