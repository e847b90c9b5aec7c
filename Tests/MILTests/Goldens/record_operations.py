#!/usr/bin/env python3
"""Writes a package with operations that retint reads and does not write, and what PyTorch computes.

    python record_operations.py    # writes operations.mlpackage and operations.json here

The package takes numbers and indices; each of its outputs is one operation. What PyTorch makes of
the same inputs stands in operations.json, output by output. Identifiers and dates in the package
differ from run to run: run it again only to change it.
"""

import json
import pathlib
import shutil

import coremltools as ct
import numpy as np
import torch
from coremltools.converters.mil import Builder as mb
from coremltools.converters.mil.mil import types
from torch.nn import functional

HERE = pathlib.Path(__file__).parent
random = np.random.default_rng(3)


def floats(*shape):
    return random.uniform(-1, 1, shape).astype(np.float32)


IMAGE = floats(1, 4, 6, 8)
ROW, VOLUME = floats(2, 4, 13), floats(1, 4, 5, 6, 6)
SEQUENCE = floats(5, 2, 3)
IDS = np.array([[0, 2, -1], [3, 1, 2]], np.int32)
INPUTS = {"image": IMAGE, "row": ROW, "volume": VOLUME, "sequence": SEQUENCE, "ids": IDS}
CASES = {}
T = torch.from_numpy


def case(function):
    """Registers a function that returns an operation's result and the expected values."""
    CASES[function.__name__] = function
    return function


@case
def convolution_of_rows(v):
    w, b = floats(6, 2, 3), floats(6)
    return (mb.conv(x=v["row"], weight=w, bias=b, strides=[2], dilations=[2], groups=2,
                    pad_type="custom", pad=[1, 3]),
            functional.conv1d(functional.pad(T(ROW), (1, 3)), T(w), T(b), 2, 0, 2, 2))


@case
def convolution_of_volumes(v):
    w, b = floats(6, 2, 3, 2, 3), floats(6)
    return (mb.conv(x=v["volume"], weight=w, bias=b, strides=[2, 1, 2], dilations=[1, 2, 1],
                    groups=2, pad_type="custom", pad=[1, 0, 1, 1, 0, 2]),
            functional.conv3d(functional.pad(T(VOLUME), (0, 2, 1, 1, 1, 0)), T(w), T(b), (2, 1, 2),
                              0, (1, 2, 1), 2))


@case
def same_convolution_of_rows(v):
    w = floats(6, 4, 4)
    return (mb.conv(x=v["row"], weight=w, strides=[3], pad_type="same"),
            functional.conv1d(functional.pad(T(ROW), (1, 2)), T(w), None, 3))


@case
def transposed_convolution_of_rows(v):
    w, b = floats(4, 3, 4), floats(3)
    return (mb.conv_transpose(x=v["row"], weight=w, bias=b, strides=[2], pad_type="custom",
                              pad=[1, 1], output_shape=[2, 3, 26]),
            functional.conv_transpose1d(T(ROW), T(w), T(b), 2, 1))


@case
def maxima_of_rows(v):
    return (mb.max_pool(x=v["row"], kernel_sizes=[3], strides=[2], pad_type="custom", pad=[1, 1],
                        ceil_mode=False), functional.max_pool1d(T(ROW), 3, 2, 1))


@case
def maxima_of_rows_to_the_end(v):
    return (mb.max_pool(x=v["row"], kernel_sizes=[4], strides=[4], pad_type="valid",
                        ceil_mode=True), functional.max_pool1d(T(ROW), 4, 4, ceil_mode=True))


@case
def maxima_of_volumes(v):
    return (mb.max_pool(x=v["volume"], kernel_sizes=[3, 2, 2], strides=[2, 2, 1],
                        pad_type="custom", pad=[1, 1, 0, 0, 0, 0], ceil_mode=False),
            functional.max_pool3d(T(VOLUME), (3, 2, 2), (2, 2, 1), (1, 0, 0)))


@case
def means_of_volumes(v):
    return (mb.avg_pool(x=v["volume"], kernel_sizes=[3, 3, 2], strides=[2, 1, 2],
                        pad_type="custom", pad=[1, 1, 1, 1, 0, 0],
                        exclude_padding_from_average=True, ceil_mode=False),
            functional.avg_pool3d(T(VOLUME), (3, 3, 2), (2, 1, 2), (1, 1, 0),
                                  count_include_pad=False))


@case
def gathered(v):
    return (mb.gather(x=v["image"], indices=v["ids"], axis=1, validate_indices=False),
            T(IMAGE)[:, T(IDS % 4).long()])


@case
def gathered_by_one_constant(v):
    return mb.gather(x=v["image"], indices=np.int32(2), axis=2), T(IMAGE)[:, :, 2]


@case
def gathered_by_a_matrix(v):
    indices = np.array([[1, 5], [0, 3]], np.int32)
    return mb.gather(x=v["image"], indices=indices, axis=2), T(IMAGE)[:, :, T(indices).long()]


@case
def gathered_per_batch(v):
    return (mb.gather(x=mb.reshape(x=v["image"], shape=[2, 12, 8]), indices=v["ids"], axis=1,
                      batch_dims=1, validate_indices=False),
            torch.stack([T(IMAGE).reshape(2, 12, 8)[n, T(IDS[n] % 12).long()] for n in range(2)]))


@case
def gathered_along_an_axis(v):
    x = T(IMAGE).reshape(2, 12, 8)[:, :3]
    return (mb.gather_along_axis(
        x=mb.slice_by_index(x=mb.reshape(x=v["image"], shape=[2, 12, 8]), begin=[0, 0, 0],
                            end=[2, 4, 3]),
        indices=mb.expand_dims(x=v["ids"], axes=[1]), axis=1, validate_indices=False),
        torch.gather(T(IMAGE).reshape(2, 12, 8)[:, :4, :3], 1, T(IDS % 4).long()[:, None]))


@case
def gathered_by_tuples(v):
    return (mb.gather_nd(x=v["row"], indices=np.array([[0, 3], [1, 2]], np.int32)),
            torch.stack([T(ROW)[0, 3], T(ROW)[1, 2]]))


@case
def scattered(v):
    new = floats(2, 2, 13)
    expected = T(ROW).clone()
    expected[:, [3, 1]] = T(new)
    return (mb.scatter(data=v["row"], indices=np.array([3, 1], np.int32), updates=new, axis=1,
                       mode="update"), expected)


@case
def scattered_sums(v):
    new = floats(2, 2, 13)
    return (mb.scatter(data=v["row"], indices=np.array([1, 1], np.int32), updates=new, axis=1,
                       mode="add"),
            T(ROW).index_add(1, torch.tensor([1, 1]), T(new)))


@case
def scattered_along_an_axis(v):
    new = floats(2, 3, 13)
    places = random.permuted(np.tile(np.arange(4), (2, 13, 1)), axis=2)[:, :, :3]
    places = np.ascontiguousarray(places.transpose(0, 2, 1)).astype(np.int32)
    return (mb.scatter_along_axis(data=v["row"], indices=places, updates=new, axis=1,
                                  mode="update"),
            T(ROW).scatter(1, T(places).long(), T(new)))


@case
def scattered_by_tuples(v):
    new = floats(2, 13)
    expected = T(ROW).clone()
    expected[0, 3] -= T(new[0])
    expected[1, 0] -= T(new[1])
    return (mb.scatter_nd(data=v["row"], indices=np.array([[0, 3], [1, 0]], np.int32),
                          updates=new, mode="sub"), expected)


@case
def updated_slice(v):
    new = floats(2, 2, 4)
    expected = T(ROW).clone()
    expected[:, 1:4:2, 2:10:2] = T(new)
    return (mb.slice_update(x=v["row"], update=new, begin=[0, 1, 2], end=[2, 4, 10],
                            stride=[1, 2, 2]), expected)


@case
def largest_values(v):
    return (mb.topk(x=v["row"], k=3, axis=2, ascending=False)[0],
            torch.topk(T(ROW), 3, 2).values)


@case
def places_of_smallest(v):
    return (mb.topk(x=v["row"], k=2, axis=1, ascending=True)[1],
            torch.topk(T(ROW), 2, 1, largest=False).indices)


@case
def order(v):
    return mb.argsort(x=v["row"], axis=2, ascending=True), torch.argsort(T(ROW), 2)


@case
def place_of_largest(v):
    return (mb.reduce_argmax(x=v["image"], axis=1, keep_dims=False), T(IMAGE).argmax(1))


@case
def place_of_smallest(v):
    return (mb.reduce_argmin(x=v["image"], axis=3, keep_dims=True), T(IMAGE).argmin(3, True))


@case
def attention(v):
    k, value = floats(1, 4, 7, 8), floats(1, 4, 7, 5)
    return (mb.scaled_dot_product_attention(query=v["image"], key=k, value=value),
            functional.scaled_dot_product_attention(T(IMAGE), T(k), T(value)))


@case
def attention_with_a_mask(v):
    k, value = floats(1, 4, 7, 8), floats(1, 4, 7, 5)
    mask = random.uniform(0, 1, (6, 7)) > 0.4
    mask[:, 0] = True
    return (mb.scaled_dot_product_attention(query=v["image"], key=k, value=value, attn_mask=mask),
            functional.scaled_dot_product_attention(T(IMAGE), T(k), T(value), T(mask)))


@case
def attention_with_added_numbers(v):
    k, value, mask = floats(1, 4, 7, 8), floats(1, 4, 7, 5), floats(6, 7)
    return (mb.scaled_dot_product_attention(query=v["image"], key=k, value=value, attn_mask=mask),
            functional.scaled_dot_product_attention(T(IMAGE), T(k), T(value), T(mask)))


@case
def einstein_sum(v):
    other = floats(13, 4, 5)
    return (mb.einsum(values=(v["row"], other), equation="abc,cbd->abd"),
            torch.einsum("abc,cbd->abd", T(ROW), T(other)))


def gates(weights, order):
    return np.concatenate([np.split(weights, len(order))[place] for place in order])


@case
def long_short_term_memory(v):
    layer = torch.nn.LSTM(3, 4, bidirectional=True)
    p = {name: value.detach().numpy() for name, value in layer.named_parameters()}
    # PyTorch's gates are input, forget, cell, output.
    def part(name):
        return gates(p[name], (0, 1, 3, 2))
    h, c = floats(2, 2, 4), floats(2, 2, 4)
    result = mb.lstm(
        x=v["sequence"], initial_h=np.concatenate([h[0], h[1]], 1),
        initial_c=np.concatenate([c[0], c[1]], 1), weight_ih=part("weight_ih_l0"),
        weight_hh=part("weight_hh_l0"), bias=part("bias_ih_l0") + part("bias_hh_l0"),
        weight_ih_back=part("weight_ih_l0_reverse"), weight_hh_back=part("weight_hh_l0_reverse"),
        bias_back=part("bias_ih_l0_reverse") + part("bias_hh_l0_reverse"),
        direction="bidirectional", output_sequence=True)
    return result[0], layer(T(SEQUENCE), (T(h), T(c)))[0]


@case
def last_cells(v):
    layer = torch.nn.LSTM(3, 4)
    p = {name: value.detach().numpy() for name, value in layer.named_parameters()}
    zero = np.zeros((2, 4), np.float32)
    result = mb.lstm(
        x=v["sequence"], initial_h=zero, initial_c=zero,
        weight_ih=gates(p["weight_ih_l0"], (0, 1, 3, 2)),
        weight_hh=gates(p["weight_hh_l0"], (0, 1, 3, 2)),
        bias=gates(p["bias_ih_l0"] + p["bias_hh_l0"], (0, 1, 3, 2)))
    return result[2], layer(T(SEQUENCE))[1][1][0]


@case
def gated_recurrent_units(v):
    layer = torch.nn.GRU(3, 4)
    with torch.no_grad():
        layer.bias_hh_l0[8:] = 0
    p = {name: value.detach().numpy() for name, value in layer.named_parameters()}
    # PyTorch's gates are reset, update, new; those of the package reset, new, update.
    result = mb.gru(
        x=v["sequence"], initial_h=np.zeros((2, 4), np.float32),
        weight_ih=gates(p["weight_ih_l0"], (0, 2, 1)),
        weight_hh=gates(p["weight_hh_l0"], (0, 2, 1)),
        bias=gates(p["bias_ih_l0"] + p["bias_hh_l0"], (0, 2, 1)), direction="reverse",
        output_sequence=True)
    return result[0], layer(T(SEQUENCE).flip(0))[0].flip(0)


@case
def recurrent_layer(v):
    layer = torch.nn.RNN(3, 4, nonlinearity="relu")
    p = {name: value.detach().numpy() for name, value in layer.named_parameters()}
    result = mb.rnn(
        x=v["sequence"], initial_h=np.zeros((2, 4), np.float32), weight_ih=p["weight_ih_l0"],
        weight_hh=p["weight_hh_l0"], bias=p["bias_ih_l0"] + p["bias_hh_l0"], activation="relu",
        output_sequence=False)
    return result[0], layer(T(SEQUENCE))[1]


def resampled(v, mode, padding, theirs, aligned):
    grid = (1.4 * floats(1, 5, 7, 2)).astype(np.float32)
    return (mb.resample(x=v["image"], coordinates=grid, sampling_mode=mode, padding_mode=padding,
                        padding_value=np.float32(0),
                        coordinates_mode="normalized_minus_one_to_one", align_corners=aligned),
            functional.grid_sample(T(IMAGE), T(grid), mode, theirs, aligned))


@case
def resampled_with_zeros(v):
    return resampled(v, "bilinear", "constant", "zeros", False)


@case
def resampled_with_aligned_corners(v):
    return resampled(v, "bilinear", "constant", "zeros", True)


@case
def resampled_to_the_border(v):
    return resampled(v, "nearest", "border", "border", False)


@case
def resampled_by_reflection(v):
    return resampled(v, "bilinear", "reflection", "reflection", True)


@case
def resampled_by_symmetry(v):
    return resampled(v, "bilinear", "symmetric", "reflection", False)


@case
def filled_like(v):
    return (mb.add(x=v["row"], y=mb.fill_like(ref_tensor=v["row"], value=np.float32(0.5))),
            T(ROW) + 0.5)


@case
def one_hot(v):
    return (mb.one_hot(indices=v["ids"], one_hot_vector_size=4, axis=-1, on_value=np.float32(2),
                       off_value=np.float32(-1)),
            torch.where(torch.arange(4) == T(IDS)[..., None], 2.0, -1.0))


@case
def running_sums(v):
    return mb.cumsum(x=v["row"], axis=1), T(ROW).cumsum(1)


@case
def exclusive_sums_from_the_end(v):
    return (mb.cumsum(x=v["row"], axis=2, exclusive=True, reverse=True),
            T(ROW).flip(2).cumsum(2).flip(2) - T(ROW))


@case
def band(v):
    return (mb.band_part(x=v["image"], lower=1, upper=2),
            T(IMAGE).tril(2).triu(-1))


@case
def pixels_of_channels(v):
    x = T(IMAGE).reshape(1, 2, 2, 1, 6, 8).permute(0, 3, 4, 1, 5, 2).reshape(1, 1, 12, 16)
    return mb.depth_to_space(x=v["image"], block_size=2), x


@case
def channels_of_pixels(v):
    x = T(IMAGE).reshape(1, 4, 3, 2, 4, 2).permute(0, 3, 5, 1, 2, 4).reshape(1, 16, 3, 4)
    return mb.space_to_depth(x=v["image"], block_size=2), x


@case
def batches_and_back(v):
    tiles = mb.space_to_batch(x=v["image"], block_shape=[2, 2], paddings=[[0, 0], [2, 0]])
    turned = mb.mul(x=tiles, y=np.float32(2))
    return (mb.batch_to_space(x=turned, block_shape=[2, 2], crops=[[1, 0], [2, 1]]),
            2 * T(IMAGE)[:, :, 1:, :-1])


@case
def tiles_of_batches(v):
    x = T(IMAGE).reshape(1, 4, 3, 2, 4, 2).permute(3, 5, 0, 1, 2, 4).reshape(4, 4, 3, 4)
    return mb.space_to_batch(x=v["image"], block_shape=[2, 2], paddings=[[0, 0], [0, 0]]), x


@case
def slice_of_a_size(v):
    return (mb.slice_by_size(x=v["row"], begin=[0, 1, 3], size=[2, 2, -1]), T(ROW)[:, 1:3, 3:])


@case
def windows(v):
    return mb.sliding_windows(x=v["row"], axis=2, size=4, stride=3), T(ROW).unfold(2, 4, 3)


@case
def flat(v):
    return mb.flatten2d(x=v["image"], axis=2), T(IMAGE).reshape(4, 48)


@case
def product(v):
    return mb.reduce_prod(x=v["row"], axes=[1, 2], keep_dims=False), T(ROW).prod(2).prod(1)


@case
def logarithm_of_sums(v):
    return (mb.reduce_log_sum(x=mb.exp(x=v["row"]), axes=[2], keep_dims=True),
            T(ROW).exp().sum(2, True).log())


@case
def of_length_one(v):
    return mb.l2_norm(x=v["image"], epsilon=np.float32(1e-3)), T(IMAGE) / (
        (T(IMAGE) ** 2).sum() + 1e-3).sqrt()


@case
def local_response(v):
    return (mb.local_response_norm(x=v["image"], size=3, alpha=0.5, beta=0.6, k=1.5),
            functional.local_response_norm(T(IMAGE), 3, 0.5, 0.6, 1.5))


@case
def arc_sine_and_cosine(v):
    return (mb.sub(x=mb.asin(x=v["image"]), y=mb.acos(x=v["image"])),
            T(IMAGE).asin() - T(IMAGE).acos())


@case
def hyperbolic(v):
    return (mb.add(x=mb.sinh(x=v["image"]), y=mb.mul(x=mb.cosh(x=v["image"]), y=mb.atanh(
        x=v["image"]))), T(IMAGE).sinh() + T(IMAGE).cosh() * T(IMAGE).atanh())


@case
def exclusive_or(v):
    a, b = mb.greater(x=v["image"], y=0.2), mb.less(x=v["image"], y=-0.1)
    return (mb.cast(x=mb.logical_xor(x=a, y=mb.logical_not(x=b)), dtype="fp32"),
            ((T(IMAGE) > 0.2) ^ ~(T(IMAGE) < -0.1)).float())


@case
def parametric_softplus(v):
    a, b = np.abs(floats(4)), np.abs(floats(4))
    return (mb.softplus_parametric(x=v["image"], alpha=a, beta=b),
            T(a)[:, None, None] * functional.softplus(T(IMAGE) * T(b)[:, None, None]))


@case
def resized(v):
    return (mb.resize(x=v["image"], shape=[0, 9, 16], resized_dims=np.uint32(2),
                      interpolation_mode="LINEAR", sampling_mode="UNALIGN_CORNERS"),
            functional.interpolate(T(IMAGE), (9, 16), mode="bilinear"))


@case
def whole_numbers(v):
    return (mb.cast(x=mb.cast(x=mb.mul(x=v["image"], y=np.float32(9)), dtype="int32"),
                    dtype="fp32"), (T(IMAGE) * 9).trunc())


def main():
    expected = {}

    @mb.program(
        input_specs=[mb.TensorSpec(value.shape, types.int32 if value.dtype == np.int32
                                   else types.fp32) for value in INPUTS.values()],
        opset_version=ct.target.iOS18)
    def program(image, row, volume, sequence, ids):
        values = dict(image=image, row=row, volume=volume, sequence=sequence, ids=ids)
        results = []
        for name, function in CASES.items():
            result, wanted = function(values)
            if result.dtype == types.int32:
                result = mb.cast(x=result, dtype="fp32")
            results.append(mb.identity(x=result, name=name))
            wanted = wanted.detach().float()
            expected[name] = {"shape": list(wanted.shape), "values": wanted.flatten().tolist()}
        return tuple(results)

    package = ct.convert(program, compute_precision=ct.precision.FLOAT32,
                         minimum_deployment_target=ct.target.iOS18)
    path = HERE / "operations.mlpackage"
    shutil.rmtree(path, ignore_errors=True)
    package.save(str(path))
    inputs = {name: {"shape": list(value.shape), "values": value.flatten().tolist()}
              for name, value in INPUTS.items()}
    (HERE / "operations.json").write_text(json.dumps({"inputs": inputs, "outputs": expected}))


torch.manual_seed(5)
main()
