/// What a parameter of a MIL operation takes.
enum Parameter {
    /// A value that was computed before, or a constant of a shape that may fit it.
    case value
    case values
    /// Four dimensions, the second of which is the number of channels.
    case kernel
    /// One number for each channel.
    case channels
    case integer
    case integers(Count)
    case float
    case bool
    case bools
    case text([String])

    enum Count {
        case fixed(Int)
        case rank
        case twiceRank
        case any
    }
}

/// An operation's parameters; a `?` at the end of the name marks one that may be left out.
struct OperationRow {
    let type: String
    let parameters: [(name: String, takes: Parameter)]

    init(_ type: String, _ parameters: KeyValuePairs<String, Parameter>) {
        (self.type, self.parameters) = (type, parameters.map { ($0.key, $0.value) })
    }
}

/// The operations that retint raises, apart from compressed weights.
let operationTable: [OperationRow] =
    unaryOperations + binaryOperations + activationOperations + windowOperations
    + reductionOperations + shapeOperations + sizeOperations

private let unaryOperations = [
    "relu", "relu6", "sigmoid", "tanh", "abs", "exp", "sqrt", "floor", "round", "sin", "cos",
    "atan", "tan", "erf", "exp2", "square", "sign", "ceil", "softplus", "softsign", "silu",
    "logical_not", "identity",
].map { OperationRow($0, ["x": .value]) }

private let binaryOperations = [
    "add", "sub", "mul", "real_div", "pow", "maximum", "minimum", "floor_div", "mod", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
].map { OperationRow($0, ["x": .value, "y": .value]) }

private let activationOperations = [
    OperationRow("leaky_relu", ["x": .value, "alpha?": .float]),
    OperationRow("elu", ["x": .value, "alpha?": .float]),
    OperationRow("clip", ["x": .value, "alpha?": .float, "beta?": .float]),
    OperationRow("prelu", ["x": .value, "alpha": .channels]),
    OperationRow("clamped_relu", ["x": .value, "alpha": .float, "beta": .float]),
    OperationRow("linear_activation", ["x": .value, "alpha": .float, "beta?": .float]),
    OperationRow("scaled_tanh", ["x": .value, "alpha": .float, "beta": .float]),
    OperationRow("sigmoid_hard", ["x": .value, "alpha?": .float, "beta?": .float]),
    OperationRow("thresholded_relu", ["x": .value, "alpha?": .float]),
    OperationRow("threshold", ["x": .value, "alpha?": .float]),
    OperationRow(
        "gelu", ["x": .value, "mode?": .text(["EXACT", "TANH_APPROXIMATION", "other"])]),
    OperationRow("inverse", ["x": .value, "epsilon?": .float]),
    OperationRow("rsqrt", ["x": .value, "epsilon?": .float]),
    OperationRow("log", ["x": .value, "epsilon?": .float]),
    OperationRow("cast", ["x": .value, "dtype?": .text(["fp16", "fp32", "int32", "bool"])]),
    OperationRow("select", ["cond": .value, "a": .value, "b": .value]),
    OperationRow(
        "quantize",
        [
            "input": .value, "scale": .channels, "zero_point?": .integers(.any),
            "axis?": .integer, "output_dtype?": .text(["int8", "uint8"]),
        ]),
    OperationRow(
        "batch_norm",
        [
            "x": .value, "mean": .channels, "variance": .channels, "gamma?": .channels,
            "beta?": .channels, "epsilon?": .float,
        ]),
    OperationRow(
        "instance_norm",
        ["x": .value, "gamma?": .channels, "beta?": .channels, "epsilon?": .float]),
    OperationRow(
        "layer_norm",
        [
            "x": .value, "axes?": .integers(.any), "gamma?": .channels, "beta?": .channels,
            "epsilon?": .float,
        ]),
    OperationRow("softmax", ["x": .value, "axis?": .integer]),
]

private let paddings = Parameter.text(["valid", "custom", "same", "same_lower", "other"])

private let windowOperations = [
    OperationRow(
        "conv",
        [
            "x": .value, "weight": .kernel, "bias?": .channels, "strides?": .integers(.fixed(2)),
            "pad_type?": paddings, "pad?": .integers(.fixed(4)),
            "dilations?": .integers(.fixed(2)), "groups?": .integer,
        ]),
    OperationRow(
        "conv_transpose",
        [
            "x": .value, "weight": .kernel, "bias?": .channels, "strides?": .integers(.fixed(2)),
            "pad_type?": paddings, "pad?": .integers(.fixed(4)),
            "dilations?": .integers(.fixed(2)), "groups?": .integer,
            "output_shape?": .integers(.rank),
        ]),
    OperationRow(
        "max_pool",
        [
            "x": .value, "kernel_sizes": .integers(.fixed(2)), "strides?": .integers(.fixed(2)),
            "pad_type?": paddings, "pad?": .integers(.fixed(4)), "ceil_mode?": .bool,
        ]),
    OperationRow(
        "avg_pool",
        [
            "x": .value, "kernel_sizes": .integers(.fixed(2)), "strides?": .integers(.fixed(2)),
            "pad_type?": paddings, "pad?": .integers(.fixed(4)), "ceil_mode?": .bool,
            "exclude_padding_from_average?": .bool,
        ]),
    OperationRow(
        "matmul", ["x": .value, "y": .value, "transpose_x?": .bool, "transpose_y?": .bool]),
    OperationRow("linear", ["x": .value, "weight": .value, "bias?": .value]),
]

private let reductionOperations = [
    "reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_sum_square",
    "reduce_l2_norm", "reduce_l1_norm", "reduce_log_sum_exp",
].map { OperationRow($0, ["x": .value, "axes?": .integers(.any), "keep_dims?": .bool]) }

private let shapeOperations = [
    OperationRow("reshape", ["x": .value, "shape": .integers(.any)]),
    OperationRow("expand_dims", ["x": .value, "axes": .integers(.any)]),
    OperationRow("squeeze", ["x": .value, "axes?": .integers(.any)]),
    OperationRow("transpose", ["x": .value, "perm": .integers(.rank)]),
    OperationRow("reverse", ["x": .value, "axes?": .integers(.any)]),
    OperationRow("tile", ["x": .value, "reps": .integers(.rank)]),
    OperationRow("concat", ["values": .values, "axis": .integer, "interleave?": .bool]),
    OperationRow("stack", ["values": .values, "axis": .integer]),
    OperationRow(
        "split",
        ["x": .value, "axis": .integer, "num_splits?": .integer, "split_sizes?": .integers(.any)]),
    OperationRow(
        "gather",
        ["x": .value, "indices": .integers(.any), "axis?": .integer, "batch_dims?": .integer]),
    OperationRow(
        "slice_by_index",
        [
            "x": .value, "begin": .integers(.rank), "end": .integers(.rank),
            "stride?": .integers(.rank), "begin_mask?": .bools, "end_mask?": .bools,
            "squeeze_mask?": .bools,
        ]),
    OperationRow("pixel_shuffle", ["x": .value, "upscale_factor": .integer]),
    OperationRow("pixel_unshuffle", ["x": .value, "downscale_factor": .integer]),
]

private let sizeOperations = [
    OperationRow(
        "pad",
        [
            "x": .value, "pad": .integers(.twiceRank),
            "mode?": .text(["constant", "reflect", "replicate", "other"]),
            "constant_val?": .float,
        ]),
    OperationRow(
        "crop",
        [
            "x": .value, "crop_height": .integers(.fixed(2)), "crop_width": .integers(.fixed(2)),
        ]),
    OperationRow(
        "resize_bilinear",
        [
            "x": .value, "target_size_height": .integer, "target_size_width": .integer,
            "sampling_mode?": .text(["DEFAULT", "UNALIGN_CORNERS", "STRICT_ALIGN_CORNERS", "?"]),
        ]),
    OperationRow(
        "resize_nearest_neighbor",
        ["x": .value, "target_size_height": .integer, "target_size_width": .integer]),
    OperationRow(
        "upsample_bilinear",
        [
            "x": .value, "scale_factor_height?": .float, "scale_factor_width?": .float,
            "align_corners?": .bool, "half_pixel_centers?": .bool,
        ]),
    OperationRow(
        "upsample_nearest_neighbor",
        ["x": .value, "scale_factor_height?": .float, "scale_factor_width?": .float]),
]
