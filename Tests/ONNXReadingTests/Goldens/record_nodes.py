"""Records what ONNX Runtime computes for operations that Debian's libonnx-testdata has no test of:
those of opset 18 to 21, and forms that PyTorch's exporters write.

    .venv/bin/python Tests/ONNXReadingTests/Goldens/record_nodes.py      writes nodes.json
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import cases

FLOAT = TensorProto.FLOAT
DRAW = np.random.default_rng(20)


def numbers(*shape):
    return DRAW.uniform(-1, 1, shape).astype(np.float32)


def node(operation, x, constants=(), opset=21, outputs=1, name="", kind=FLOAT,
         **attributes):
    """A case of one operation on `x` and on constants; None is an input that is not given."""
    names, initializers = ["x"], []
    for index, constant in enumerate(constants):
        names.append("" if constant is None else f"c{index}")
        if constant is not None:
            initializers.append(numpy_helper.from_array(np.asarray(constant), f"c{index}"))
    results = [f"y{index}" for index in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(operation, names, results, **attributes)], "case",
        [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)],
        [helper.make_tensor_value_info(result, kind, None) for result in results], initializers)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 19 else 10)
    return cases.case(f"{operation} {name}".strip(), model, {"x": x})


def ints(*values):
    return np.array(values, np.int64)


def floats(*values):
    return np.array(values, np.float32)


IMAGE = numbers(1, 2, 5, 4)
LARGE = numbers(1, 1, 12, 9)


def normalizations():
    x = numbers(2, 6, 3, 4)
    yield node("GroupNormalization", x, [numbers(6), numbers(6)], num_groups=3, name="21")
    yield node("LayerNormalization", x, [numbers(4), numbers(4)], axis=-1, epsilon=1e-3)
    yield node("LayerNormalization", x, [numbers(3, 4)], axis=2, name="without offset")
    yield node("InstanceNormalization", x, [numbers(6), numbers(6)])
    yield node("InstanceNormalization", numbers(2, 3, 7), [numbers(3), numbers(3)], name="of rows")
    yield node(
        "BatchNormalization", numbers(2, 3, 5),
        [numbers(3), numbers(3), numbers(3), abs(numbers(3))], name="of rows")
    yield node(
        "BatchNormalization", x, [numbers(6), numbers(6), numbers(6), abs(numbers(6))], opset=9,
        name="9")
    yield node("LpNormalization", x, axis=1, p=2)
    yield node("LpNormalization", x, axis=-1, p=1, name="1")


def resizings():
    modes = [
        (mode, transform) for mode in ("nearest", "linear", "cubic")
        for transform in (
            "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
            "asymmetric")
    ]
    for mode, transform in modes:
        options = {"mode": mode, "coordinate_transformation_mode": transform}
        if mode == "nearest":
            options["nearest_mode"] = "floor" if transform == "asymmetric" else "round_prefer_floor"
        yield node(
            "Resize", IMAGE, [None, None, ints(1, 2, 10, 7)], **options,
            name=f"{mode} {transform} to a size")
        yield node(
            "Resize", IMAGE, [None, floats(1, 1, 2, 3)], **options,
            name=f"{mode} {transform} by whole factors")
        # Aligned, ONNX's own tests use the exact size, ONNX Runtime the whole one.
        if transform != "align_corners":
            yield node(
                "Resize", LARGE, [None, floats(1, 1, 0.51, 0.7)], **options,
                name=f"{mode} {transform} to smaller")
    for nearest in ("round_prefer_ceil", "ceil", "floor", "round_prefer_floor"):
        yield node(
            "Resize", LARGE, [None, floats(1, 1, 0.5, 2.5)], mode="nearest", nearest_mode=nearest,
            name=f"nearest {nearest}")
    yield node(
        "Resize", IMAGE, [None, None, ints(8, 7)], axes=[3, 2], mode="linear", name="of axes")
    for policy in ("not_larger", "not_smaller"):
        yield node(
            "Resize", LARGE, [None, None, ints(7, 8)], axes=[2, 3], mode="nearest",
            keep_aspect_ratio_policy=policy, name=policy)
    yield node(
        "Resize", LARGE, [None, floats(1, 1, 0.6, 1.7)], mode="cubic", cubic_coeff_a=-0.5,
        exclude_outside=1, name="cubic without outside")
    for mode in ("linear", "cubic"):
        yield node(
            "Resize", LARGE, [None, None, ints(1, 1, 5, 4)], mode=mode, antialias=1,
            name=f"{mode} with antialiasing")
        yield node(
            "Resize", LARGE, [None, None, ints(1, 1, 20, 4)], mode=mode, antialias=1,
            coordinate_transformation_mode="align_corners",
            name=f"{mode} with antialiasing, aligned")
    yield node("Resize", IMAGE, [floats(1, 1, 2, 2)], opset=10, mode="linear", name="10")
    yield node("Resize", IMAGE, [floats(1, 1, 2, 2)], opset=10, mode="nearest", name="10 nearest")
    yield node("Upsample", IMAGE, [floats(1, 1, 2, 3)], opset=9, mode="nearest")
    yield node("Upsample", IMAGE, [floats(1, 1, 2, 3)], opset=9, mode="linear", name="linear")


def pads():
    amounts = ints(0, 0, 2, 1, 0, 1, 3, 0)
    for mode in ("constant", "reflect", "edge", "wrap"):
        yield node("Pad", IMAGE, [amounts], mode=mode, name=mode)
    yield node(
        "Pad", IMAGE, [ints(2, -1, 1, 3), floats(0.5).reshape(()), ints(-1, 2)], name="of axes")
    yield node("Pad", IMAGE, [ints(0, 0, -1, 0, 0, 0, 0, -2)], name="negative")
    yield node("Pad", IMAGE, opset=10, pads=[0, 0, 1, 1, 0, 0, 2, 2], mode="edge", name="10")


def pools():
    for operation in ("MaxPool", "AveragePool"):
        for name, options in {
            "k3 s2 p1 rounded up": {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1],
                                    "ceil_mode": 1},
            "k2 s2 rounded up": {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1},
            "k2 s3 whose last window would be of padding": {
                "kernel_shape": [2, 2], "strides": [3, 3], "pads": [0, 0, 1, 1], "ceil_mode": 1},
            "same lower": {"kernel_shape": [4, 3], "strides": [2, 3], "auto_pad": "SAME_LOWER"},
            "same upper": {"kernel_shape": [4, 3], "strides": [2, 3], "auto_pad": "SAME_UPPER"},
            "uneven": {"kernel_shape": [3, 2], "pads": [2, 0, 1, 1]},
            "dilated": {"kernel_shape": [3, 2], "dilations": [2, 3], "pads": [1, 1, 2, 0]},
        }.items():
            if operation == "AveragePool" and name == "uneven":
                options["count_include_pad"] = 1
            yield node(operation, LARGE, opset=19, name=name, **options)
    yield node(
        "AveragePool", LARGE, opset=19, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1],
        ceil_mode=1, count_include_pad=1, name="k3 s2 p1 rounded up, with padding")
    yield node(
        "MaxPool", numbers(1, 2, 9), kernel_shape=[3], strides=[2], pads=[1, 1], name="of rows")
    yield node("AveragePool", numbers(1, 2, 9), kernel_shape=[3], strides=[2], name="of rows")
    yield node("GlobalAveragePool", numbers(1, 2, 9), name="of rows")


def convolutions():
    weight, bias = numbers(4, 2, 3, 3), numbers(4)
    x = numbers(2, 4, 6, 5)
    yield node("Conv", x, [weight, bias], group=2, strides=[2, 1], pads=[1, 0, 2, 1], name="groups")
    yield node("Conv", x, [numbers(4, 1, 3, 3)], group=4, dilations=[2, 1], name="depthwise")
    yield node(
        "Conv", x, [numbers(2, 4, 4, 2)], auto_pad="SAME_LOWER", strides=[2, 2], name="same lower")
    yield node(
        "Conv", numbers(1, 4, 9), [numbers(2, 4, 3), numbers(2)], pads=[1, 1], name="of rows")
    yield node("ConvTranspose", x, [numbers(4, 3, 4, 4), numbers(3)], strides=[2, 2],
               pads=[1, 1, 1, 1], name="k4 s2 p1")
    yield node("ConvTranspose", x, [numbers(4, 2, 3, 3)], group=2, strides=[2, 2],
               pads=[1, 1, 1, 1], output_padding=[1, 1], name="groups and output padding")
    yield node("ConvTranspose", x, [numbers(4, 2, 3, 3)], strides=[2, 2], auto_pad="SAME_UPPER",
               name="same upper")
    yield node("ConvTranspose", x, [numbers(4, 2, 3, 3)], strides=[2, 2], auto_pad="SAME_LOWER",
               name="same lower")
    yield node("ConvTranspose", x, [numbers(4, 2, 3, 3)], strides=[2, 2], output_shape=[12, 10],
               name="to a shape")
    yield node("ConvTranspose", numbers(1, 3, 5), [numbers(3, 2, 4)], strides=[2], pads=[1, 1],
               name="of rows")


def shapes():
    x = numbers(2, 3, 4)
    yield node("Split", x, opset=18, axis=-1, num_outputs=3, outputs=3, name="unevenly")
    yield node("Split", x, [ints(1, 2)], axis=1, outputs=2, name="into sizes")
    yield node("Split", x, opset=11, axis=1, split=[2, 1], outputs=2, name="11")
    yield node("Slice", x, [ints(-1, 3), ints(-100, 0), ints(0, 2), ints(-1, -2)], name="backward")
    yield node("Slice", x, opset=9, starts=[1], ends=[1000], axes=[2], name="9")
    yield node("Reshape", x, [ints(0, -1)])
    yield node("Squeeze", numbers(1, 3, 1), [ints(-1)])
    yield node("Squeeze", numbers(1, 3, 1), name="all")
    yield node("Unsqueeze", x, [ints(0, -1)])
    yield node("Unsqueeze", x, opset=11, axes=[1], name="11")
    yield node("Expand", numbers(3, 1), [ints(2, 1, 4)])
    yield node("Tile", x, [ints(1, 2, 3)])
    yield node("Flatten", numbers(2, 3, 4, 2), axis=-2)
    yield node("DepthToSpace", numbers(1, 8, 2, 3), blocksize=2, mode="CRD", name="CRD")
    yield node("DepthToSpace", numbers(1, 8, 2, 3), blocksize=2, mode="DCR", name="DCR")
    yield node("SpaceToDepth", numbers(1, 2, 4, 6), blocksize=2)
    yield node("Gather", x, [ints(2, 0, -1)], axis=-1)
    yield node("Gather", x, [np.array(1, np.int64)], axis=1, name="of one")
    yield node("Gather", x, [ints(0, 1, 1, 0).reshape(2, 2)], axis=0, name="of a matrix")
    yield node("GatherND", x, [ints(0, 1, 1, 2).reshape(2, 2)])
    yield node("GatherND", x, [ints(2, 1).reshape(2, 1)], batch_dims=1, name="in batches")
    yield node("Trilu", numbers(2, 4, 5), [np.array(1, np.int64)], upper=1, name="upper")
    yield node("Trilu", numbers(2, 4, 5), [np.array(-1, np.int64)], upper=0, name="lower")
    yield node("CumSum", x, [np.array(-1, np.int64)])
    yield node("CumSum", x, [np.array(1, np.int64)], exclusive=1, reverse=1, name="backward")
    yield node("ScatterND", x, [ints(0, 1, 1, 2).reshape(2, 2), numbers(2, 4)])


def functions():
    x = 3 * numbers(2, 3, 4)
    for operation in ("Relu", "Sigmoid", "Tanh", "HardSwish", "Mish", "Softplus", "Softsign", "Abs",
                      "Neg", "Floor", "Ceil", "Round", "Exp", "Sin", "Cos", "Atan", "Tan", "Sinh",
                      "Cosh", "Asinh", "Erf", "Sign", "Selu", "Identity"):
        yield node(operation, x)
    for operation in ("Sqrt", "Reciprocal", "Log"):
        yield node(operation, abs(x) + 0.5)
    for operation in ("Asin", "Acos", "Atanh"):
        yield node(operation, x / 4)
    yield node("Acosh", abs(x) + 1)
    yield node("LeakyRelu", x, alpha=0.2)
    yield node("HardSigmoid", x, alpha=0.25, beta=0.4)
    yield node("Elu", x, alpha=0.7)
    yield node("Celu", x, alpha=0.7)
    yield node("ThresholdedRelu", x, alpha=0.3)
    yield node("Shrink", x, lambd=0.3, bias=0.1)
    yield node("Gelu", x, approximate="none")
    yield node("Gelu", x, approximate="tanh", name="tanh")
    yield node("PRelu", x, [numbers(3, 1)])
    yield node("Clip", x, [floats(-0.5).reshape(()), floats(0.25).reshape(())])
    yield node("Clip", x, [None, floats(0.25).reshape(())], name="above")
    yield node("Clip", x, opset=9, min=-0.25, name="9")
    for axis in (0, 1, -1):
        yield node("Softmax", x, axis=axis, name=f"along {axis}")
        yield node("LogSoftmax", x, axis=axis, name=f"along {axis}")
        yield node("Softmax", x, opset=11, axis=axis, name=f"along {axis}, 11")


def arithmetic():
    x = numbers(2, 3, 4)
    for operation in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean"):
        yield node(operation, x, [numbers(3, 1) + 2])
    for exponent in (2, 3, 0.5, -1, 1.7):
        yield node("Pow", abs(x) + 0.1, [floats(exponent).reshape(())], name=str(exponent))
    yield node("Pow", x, [floats(2).reshape(())], name="of negative numbers")
    yield node("Mod", 5 * x, [floats(0.7).reshape(())], fmod=1)
    for operation in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                      "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"):
        yield node(operation, x, [ints(-1, 0)], opset=18, keepdims=1)
        yield node(operation, x, [ints(1)], opset=18, keepdims=0, name="without axis")
        yield node(operation, x, opset=18, keepdims=0, name="of all")
    yield node("ReduceMean", x, opset=13, axes=[1], keepdims=0, name="13")
    yield node("MatMul", numbers(2, 3, 4), [numbers(4, 5)])
    yield node("MatMul", numbers(2, 3, 4), [numbers(2, 4, 5)], name="of batches")
    yield node("MatMul", numbers(3, 4), [numbers(2, 4, 5)], name="of one and a batch")
    yield node("MatMul", numbers(2, 1, 3, 4), [numbers(3, 4, 2)], name="broadcast")
    yield node("MatMul", numbers(4), [numbers(4, 5)], name="of a row")
    yield node("MatMul", numbers(2, 3, 4), [numbers(4)], name="of a column")
    yield node("Gemm", numbers(4, 3), [numbers(5, 4), numbers(5)], transA=1, transB=1, alpha=0.5,
               beta=2.0)
    equations = {
        "bij,bjk->bik": (2, 4, 5), "bij,kj->bik": (6, 4), "bij,bkj->ikb": (2, 7, 4),
        "bij,bij->b": (2, 3, 4), "bij,ck->bijck": (2, 2), "bij,j": (4,), "...j,jk->...k": (4, 3)}
    for equation, shape in equations.items():
        yield node("Einsum", x, [numbers(*shape)], equation=equation, name=equation)
    yield node("Einsum", x, equation="bij->jb", name="of one")
    for operation in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
        yield node(operation, x, [x[1, 1]], kind=TensorProto.BOOL)


def quantizations():
    x = numbers(2, 3, 4)
    yield quantized(x, floats(0.02).reshape(()), np.array(3, np.int8), "int8")
    yield quantized(x, floats(0.02).reshape(()), np.array(130, np.uint8), "uint8")
    yield quantized(x, floats(0.02, 0.03, 0.01), np.array([1, -2, 3], np.int8), "by axis")


def quantized(x, scale, zero, name):
    """x quantized and dequantized again."""
    initializers = [numpy_helper.from_array(scale, "s"), numpy_helper.from_array(zero, "z")]
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=1),
             helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=1)]
    graph = helper.make_graph(
        nodes, "case", [helper.make_tensor_value_info("x", FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", FLOAT, None)], initializers)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return cases.case(f"QuantizeLinear {name}", model, {"x": x})


def images():
    yield node("Col2Im", numbers(2, 12, 9), [ints(4, 5), ints(2, 3)])
    yield node("Col2Im", numbers(1, 18, 6), [ints(6, 7), ints(3, 3)], strides=[2, 3],
               pads=[1, 0, 1, 2], dilations=[1, 2], name="with steps")
    maps = numbers(2, 2, 3)
    yield node("AffineGrid", maps, [ints(2, 3, 4, 5)])
    yield node("AffineGrid", maps, [ints(2, 3, 2, 5)], align_corners=1, name="aligned")
    indices, values = ints(0, 2, -1, 1, 7, -3).reshape(2, 3), floats(0.5, 2)
    yield node("OneHot", indices, [np.array(4, np.int64), values])
    yield node("OneHot", indices, [np.array(3, np.int64), values], axis=0, name="in front")
    yield node("EyeLike", numbers(3, 5))
    yield node("EyeLike", numbers(3, 5), k=-1, dtype=FLOAT, name="below")


if __name__ == "__main__":
    families = [normalizations, resizings, pads, pools, convolutions, shapes, functions, arithmetic,
                quantizations, images]
    cases.write("nodes.json", [one for family in families for one in family()])
