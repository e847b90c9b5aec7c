#!/usr/bin/env python3
"""Writes packages with every form of compressed weights, and what coremltools makes of them.

    python record_constexpr.py    # writes constexpr-*.mlpackage and constexpr.json here

Each package adds an input to weights in every form that its target has. What coremltools itself
decompresses them to stands in constexpr.json, output by output. Identifiers and dates in the
packages differ from run to run: run it again only to change them.
"""

import json
import pathlib
import shutil

import coremltools as ct
import numpy as np
from coremltools.converters.mil import Builder as mb
from coremltools.converters.mil.mil import types

HERE = pathlib.Path(__file__).parent
SHAPE = (6, 4, 2, 2)
random = np.random.default_rng(11)


def floats(shape, dtype=np.float32):
    return random.uniform(-1, 1, shape).astype(dtype)


def integers(low, high, shape, dtype):
    values = random.integers(low, high, shape, endpoint=True)
    return values.astype(np.int8 if low < 0 else np.uint8).astype(dtype)


def packed(values, bits):
    """Whole numbers in a little-endian stream of bits."""
    planes = (values.reshape(-1, 1) >> np.arange(bits)) & 1
    return np.packbits(planes.astype(np.uint8).reshape(-1), bitorder="little")


def table(bits, shape=(), dtype=np.float32):
    return floats((*shape, 1 << bits), dtype)


def forms_before_18():
    data = integers(-127, 127, SHAPE, np.int8)
    yield "affine_channel", mb.constexpr_affine_dequantize(
        quantized_data=data, zero_point=integers(-9, 9, 6, np.int8), scale=floats(6),
        axis=np.int32(0))
    yield "affine_second_axis", mb.constexpr_affine_dequantize(
        quantized_data=integers(0, 255, SHAPE, np.uint8), zero_point=np.uint8(3),
        scale=floats(4, np.float16), axis=np.int32(-3))
    yield "affine_tensor", mb.constexpr_affine_dequantize(
        quantized_data=data, zero_point=np.float32(0.5), scale=np.float32(0.013),
        axis=np.int32(1))
    for bits in (1, 2, 4, 6, 8):
        places = integers(0, (1 << bits) - 1, SHAPE, np.uint8)
        dtype = np.float16 if bits == 6 else np.float32
        yield f"table{bits}", mb.constexpr_lut_to_dense(
            indices=packed(places, bits), lut=table(bits, dtype=dtype),
            shape=np.uint32(SHAPE))
    for name, dtype in (("sparse", np.float32), ("sparse_half", np.float16)):
        mask = integers(0, 1, (5, 3, 3), np.uint8)
        yield name, mb.constexpr_sparse_to_dense(
            nonzero_data=floats(int(mask.sum()), dtype), mask=packed(mask, 1),
            shape=np.uint32(mask.shape))
    yield "cast", mb.constexpr_cast(source_val=floats(SHAPE, np.float16), output_dtype="fp32")


def forms_of_18():
    int4, uint1, uint2, uint3 = (
        types.np_int4_dtype, types.np_uint1_dtype, types.np_uint2_dtype, types.np_uint3_dtype)
    yield "scale_channel", mb.constexpr_blockwise_shift_scale(
        data=integers(-127, 127, SHAPE, np.int8), scale=floats((6, 1, 1, 1)))
    yield "scale_blocks", mb.constexpr_blockwise_shift_scale(
        data=integers(-7, 7, SHAPE, int4), scale=floats((6, 2, 1, 1)),
        offset=integers(-7, 7, (6, 2, 1, 1), int4))
    yield "scale_last_axis", mb.constexpr_blockwise_shift_scale(
        data=integers(0, 255, SHAPE, np.uint8), scale=floats((3, 1, 1, 2), np.float16),
        offset=integers(0, 255, (3, 1, 1, 2), np.uint8))
    yield "table3", mb.constexpr_lut_to_dense(
        indices=integers(0, 7, SHAPE, uint3), lut=floats((1, 1, 1, 1, 8, 1)))
    yield "table_groups", mb.constexpr_lut_to_dense(
        indices=integers(0, 3, SHAPE, uint2), lut=floats((3, 2, 1, 1, 4, 1), np.float16))
    for axis in (0, 1, -1):
        name = f"vectors_axis{axis % 4}"
        yield name, mb.constexpr_lut_to_dense(
            indices=integers(0, 3, SHAPE, uint2), lut=floats((2, 1, 1, 1, 4, 3)),
            vector_axis=np.int32(axis))
    small = mb.constexpr_blockwise_shift_scale(
        data=integers(-127, 127, (2, 1, 1, 1, 4, 1), np.int8), scale=floats((2, 1, 1, 1, 1, 1)))
    yield "table_of_integers", mb.constexpr_lut_to_dense(
        indices=integers(0, 3, SHAPE, uint2), lut=small)
    dense = mb.constexpr_lut_to_dense(
        indices=integers(0, 3, SHAPE, uint2), lut=floats((1, 1, 1, 1, 4, 1)))
    yield "table_scaled", mb.constexpr_blockwise_shift_scale(
        data=dense, scale=floats((6, 1, 1, 1)))
    mask = integers(0, 1, SHAPE, uint1)
    count = int(mask.sum())
    yield "sparse", mb.constexpr_sparse_to_dense(nonzero_data=floats(count), mask=mask)
    below, rest = mb.constexpr_lut_to_sparse(
        indices_mask=mask, indices_nonzero_data=integers(0, 3, count, uint2),
        lut=floats((3, 1, 1, 1, 4, 1)))
    yield "sparse_table", mb.constexpr_sparse_to_dense(nonzero_data=rest, mask=below)
    below, rest = mb.constexpr_lut_to_sparse(
        indices_mask=mask, indices_nonzero_data=integers(0, 3, count, uint2),
        lut=floats((1, 1, 1, 1, 4, 2)), vector_axis=np.int32(1))
    yield "sparse_vectors", mb.constexpr_sparse_to_dense(nonzero_data=rest, mask=below)
    below, rest = mb.constexpr_sparse_blockwise_shift_scale(
        data_mask=mask, nonzero_data=integers(-7, 7, count, int4), scale=floats((6, 2, 1, 1)),
        offset=integers(-7, 7, (6, 2, 1, 1), int4))
    yield "sparse_scale", mb.constexpr_sparse_to_dense(nonzero_data=rest, mask=below)
    yield "cast", mb.constexpr_cast(source_val=floats(SHAPE, np.float16), output_dtype="fp32")


def decompressed(operation):
    """What coremltools makes of weights; a table that is compressed itself comes first."""
    lut = operation.inputs.get("lut")
    if lut is not None and lut.val is None:
        return operation.decompress(operation.indices.val, decompressed(lut.op), None)
    return np.asarray(operation.materialized_val_inference())


def record(name, target, forms):
    numbers = {}
    specs = [mb.TensorSpec(shape=(1,)), mb.TensorSpec(shape=(1,), dtype=types.fp16)]

    @mb.program(input_specs=specs, opset_version=target)
    def program(single, half):
        outputs = []
        for form, weight in forms():
            numbers[form] = [
                float(np.format_float_scientific(number))
                for number in decompressed(weight.op).astype(np.float32).flatten()
            ]
            x = half if weight.dtype == types.fp16 else single
            outputs.append(mb.add(x=x, y=weight, name=form))
        return tuple(outputs)

    model = ct.convert(
        program, convert_to="mlprogram", minimum_deployment_target=target, skip_model_load=True,
        pass_pipeline=ct.PassPipeline.EMPTY, compute_precision=ct.precision.FLOAT32)
    path = HERE / f"{name}.mlpackage"
    shutil.rmtree(path, ignore_errors=True)
    model.save(str(path))
    return numbers


def main():
    recorded = {
        "constexpr-iOS16": record("constexpr-iOS16", ct.target.iOS16, forms_before_18),
        "constexpr-iOS18": record("constexpr-iOS18", ct.target.iOS18, forms_of_18),
    }
    text = json.dumps(recorded, separators=(",", ":")).replace("],", "],\n")
    (HERE / "constexpr.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
