"""Faults of converters that explain wrong cases, each after its file was read.

`reason` says what the converter does; the others are what retint tells people. A case that a
converter gets wrong belongs to the first fault whose pattern its name has.
"""

import dataclasses
import re

COREMLTOOLS, ONNX, COREAI = "coremltools", "torch.onnx", "coreai-torch"
# How to avoid what a converter leaves out.
WRITE_OUT = "Write the formula with basic operations."


@dataclasses.dataclass(frozen=True)
class Fault:
    """Why a converter writes other numbers, and for which cases."""

    id: str
    converter: str
    # Of the names of cases; `kinds` of the names of the kinds of files.
    pattern: str
    operation: str
    condition: str
    consequence: str
    reason: str
    advice: str
    kinds: str = ""
    # `unread` for files that contradict themselves, so that nothing can run them.
    state: str = "wrong"

    @property
    def row(self):
        names = ("id", "converter", "operation", "condition", "consequence", "reason", "advice")
        return {name: getattr(self, name) for name in names}


def explaining(converter, kind, case, state):
    """The fault that explains a wrong or unread case; None if it is not known."""
    return next((fault for fault in FAULTS if (fault.converter, fault.state) == (converter, state)
                 and re.search(fault.kinds, kind) and re.search(fault.pattern, case)), None)


# Cases that say nothing about a converter, and why.
UNDECIDED = (
    (r"^(floor_divide|remainder|fmod|pow) \|.*special", "MIL does not define infinities and NaN"),
    (r"^logsumexp \|.*infinite", "retint subtracts the largest value, which is infinite"),
    (r"^(avg|max)_pool[12]d \|.*ceil=True", "retint keeps windows that begin in the padding"),
    (r"^(fmod|le) \|.*special", "an .aimodel says nothing about the order of NaN"),
    (r"^where \|.*special", "retint selects by products, which spread infinities and NaN"),
    (r"^(clamp|gelu|hardshrink|softshrink) \|.*special", "MIL does not define infinities and NaN"),
)


def is_undecided(case):
    return any(re.search(pattern, case) for pattern, _ in UNDECIDED)


FAULTS = (
    Fault("variance-correction", COREMLTOOLS, r"^(var|std) \|.*correction=2", "var, std",
          "a correction other than 0 and 1", "the variance for a correction of 1",
          "reads the correction as the flag unbiased, which 2 sets",
          "Multiply the variance with correction 0 by n / (n - correction)."),
    Fault("variance-default", COREMLTOOLS,
          r"^(var|std) \| (var|std)\(x(, dim, keepdim=keepdim|, dim, correction=correction.*)?\)",
          "var, std", "neither unbiased nor correction", "the biased variance",
          "reads the correction, which is missing, as the flag unbiased, which is then false",
          "Give unbiased=True."),
    Fault("softplus-threshold", COREMLTOOLS, r"^softplus \|.*threshold=", "softplus",
          "a threshold other than 20", "log(1 + exp(βx)) / β above the threshold, not x",
          "does not read the threshold", "Select x above the threshold with torch.where."),
    Fault("elu-scale", COREMLTOOLS, r"^elu \| ops", "elu", "scale or input_scale other than 1",
          "the values for a scale of 1", "reads alpha alone", WRITE_OUT),
    Fault("instance-norm-statistics", COREMLTOOLS, r"^instance_norm.*tracks=True",
          "instance_norm", "running statistics (track_running_stats) in evaluation",
          "values normalized by their own statistics", "ignores the running mean and variance",
          "Replace the layer by a batch normalization with the same statistics."),
    Fault("log-softmax", COREMLTOOLS, r"^(log_softmax|cross_entropy) \|.*", "log_softmax",
          "values that are over 87 below the largest one (over 10 in float16)",
          "-∞, or the smallest logarithm, instead of the difference",
          "takes the logarithm of softmax, which underflows",
          "Write x - torch.logsumexp(x, dim, keepdim=True)."),
    Fault("logcumsumexp", COREMLTOOLS, r"^logcumsumexp \|", "logcumsumexp",
          "values above 88 or below -87 (11 and -10 in float16)", "∞ or -∞",
          "takes the logarithm of the sums of exponentials, without subtracting the largest",
          "Subtract the largest value first and add it to the result."),
    Fault("boolean-reduction", COREMLTOOLS, r"^(all|any) \|", "all, any",
          "numbers that are not booleans", "wrong where values lie between -1 and 1, or below 0",
          "casts to int32, which makes fractions 0, and takes the smallest or largest",
          "Compare with 0 first: (x != 0).all(dim)."),
    Fault("atan2-axis", COREMLTOOLS, r"^atan2 \|", "atan2", "a first operand of 0 and a second "
          "below 0", "0 instead of π", "adds π only where the first operand is not 0",
          "Add π with torch.where where the first operand is 0 and the second negative."),
    Fault("reciprocal-epsilon", COREMLTOOLS, r"^(reciprocal|scalar) \| (reciprocal\(x\)|value / x)",
          "reciprocal, c / x", "values below 1", "c / (x + 0.0001)",
          "writes inverse with the default epsilon of 0.0001",
          "Divide by a tensor: torch.full_like(x, c) / x."),
    Fault("cosine-broadcast-axis", COREMLTOOLS, r"^cosine_similarity \|", "cosine_similarity",
          "operands of different shapes, where the axis is broadcast", "another similarity",
          "sums the squares before they are broadcast", "Expand the operands first."),
    Fault("rsqrt-epsilon", COREMLTOOLS, r"^rsqrt \|", "rsqrt", "0, and values below 1e-8",
          "1 / √(x + 1e-12)", "writes rsqrt with the default epsilon", "Write 1 / torch.sqrt(x)."),
    Fault("rms-norm-epsilon", COREMLTOOLS, r"^rms_norm \|", "rms_norm",
          "an epsilon that matters beside the squares, and inputs of zeros alone",
          "values for ε times the square of the largest value; NaN for zeros",
          "divides by the largest value first, and adds the epsilon to what was divided",
          WRITE_OUT),
    Fault("antialias", COREMLTOOLS, r"^interpolate \|.*antialias=True", "interpolate",
          "antialias=True for a smaller size", "values without antialiasing",
          "converts the operation like the one without", "Resize outside of the network."),
    Fault("resampled-constant", COREMLTOOLS,
          r"^interpolate \|.*mode='bilinear', corners=False.*as constants", "interpolate",
          "a constant, bilinear, with a scale that gives no whole size",
          "the values for align_corners=True",
          "computes the constant with torch's upsample_bilinear, which aligns corners",
          "Compute the constant before the conversion."),
    Fault("pool-ceil", COREMLTOOLS, r"^(avg|max)_pool3d \|.*ceil=True",
          "max_pool3d, avg_pool3d",
          "ceil_mode with a last window that begins in the padding", "an output one larger",
          "pads until the last window fits, and does not leave out one that begins in the padding",
          "Crop the output."),
    Fault("assign-ellipsis", COREMLTOOLS, r"^assign \|.*\(Ellipsis", "x[..., i] = y",
          "an ellipsis in the index that is written", "values written along the first axis",
          "counts the ellipsis as no axis at all", "Write x[:, :, i] = y with all axes."),
    Fault("scatter-constant", COREMLTOOLS, r"^(scatter|scatter_add|index_add) \|.*as constants",
          "scatter_add", "constants, with an index that occurs more than once",
          "one of the values instead of their sum",
          "computes the constant with NumPy's indexed addition, which adds once",
          "Compute the constant before the conversion."),
    Fault("division-by-one", COREMLTOOLS,
          r"^(remainder|mod|floor_divide|div|in-place) \|.*value=1 ",
          "remainder, floor division", "a divisor of 1, for fractions",
          "0 for the remainder, and the dividend for the quotient",
          "removes the floor division by 1, as if it changed nothing",
          "Write x - torch.floor(x)."),
    Fault("triangle-infinite", COREMLTOOLS, r"^(triu|tril) \|.*special", "triu, tril",
          "infinite values, with a diagonal above 0 for triu, below 0 for tril",
          "NaN in place of 0", "subtracts the part that is left out, and ∞ - ∞ is NaN",
          "Fill a mask with infinities after torch.triu of ones."),
    Fault("narrow-negative", COREMLTOOLS, r"^narrow \|.*start=-", "narrow", "a negative start",
          "an empty output, or one of another size", "slices from the start to start + length, "
          "which is 0 or above where the start is below", "Give the start from the front.",
          state="unread"),
    Fault("masked-fill-shape", COREMLTOOLS, r"^masked_fill \|.*\| 3 2x3:bool", "masked_fill",
          "a mask of a larger shape than the tensor", "a package that states another shape",
          "states the shape of the tensor, though select has the shape of the mask",
          "Expand the tensor first.", state="unread"),
    Fault("reduction-dtype", COREMLTOOLS, r"^(sum|mean|cumsum|cumprod) \|.*dtype=", "sum, cumsum",
          "dtype of an integer type for floats", "sums of the fractions, too",
          "does not read dtype", "Cast first: x.int().sum(dim)."),
    Fault("infinite-constants", COREMLTOOLS, r"^masked_fill \|.*-inf",
          "masked_fill", "a value of ∞ or -∞", "±3.4e38 instead",
          "replaces infinite constants by the largest numbers", "Nothing is necessary for masks."),
    Fault("clamp-order", COREMLTOOLS, r"^clamp \| clamp\(x, y, z\)", "clamp",
          "tensor bounds of which the lower is above the upper", "the lower bound, not the upper",
          "takes the minimum before the maximum",
          "Write torch.minimum(torch.maximum(x, low), high)."),
    Fault("clamp-integers", COREMLTOOLS, r"^clamp \|.*:int", "clamp",
          "bounds that are fractions, for integers", "integers where the bounds apply",
          "casts the result back to integers", "Cast to floats first: x.float().clamp(low, high)."),
    Fault("full-type", COREMLTOOLS, r"^(full_like|new_full|full) \|", "full_like, new_full",
          "a value of another type than the tensor", "the value itself, not converted to the type",
          "ignores the type of the tensor", "Give a value of the tensor's type."),
    Fault("scalars-rank", COREMLTOOLS, r"\| (0d 0d|0d)\b", "stack and others",
          "tensors without axes", "a shape with another axis",
          "treats a tensor without axes as one with an axis of 1", "Reshape to [1] first."),
    Fault("add-alpha", COREMLTOOLS, r"^(add|sub|rsub) \|.*alpha=", "add, sub",
          "alpha other than 1, through torch.export", "the sum without the factor",
          "does not read alpha, which torch.export passes by its name",
          "Write x + alpha * y.", kinds="export"),
    Fault("floor-division", ONNX, r"^(floor_divide \||in-place \| inplace\(x, 'floor_divide_')",
          "floor_divide, //", "quotients below 0, and infinite ones",
          "the quotient rounded towards 0", "divides, and casts to int64, which truncates",
          "Write torch.floor(x / y).", kinds="torchscript"),
    Fault("shift-right", ONNX, r"^bitwise_shift \| x >>", ">>", "integers below 0",
          "the quotient rounded towards 0", "divides by a power of 2",
          "Write torch.floor of the quotient.", kinds="torchscript"),
    Fault("roll-far", ONNX, r"^roll \|", "roll", "shifts of the size of the axis or more",
          "values without the roll", "slices at the shift, which lies outside",
          "Take the shift modulo the size.", kinds="torchscript"),
    Fault("softplus-threshold-onnx", ONNX, r"^softplus \|.*threshold=", "softplus",
          "a threshold other than 20", "log(1 + exp(βx)) / β above the threshold, not x",
          "does not read the threshold", "Select x above the threshold with torch.where."),
    Fault("log-sigmoid", ONNX, r"^logsigmoid \|", "logsigmoid", "values below -88", "-∞",
          "takes the logarithm of sigmoid, which underflows", "Write -softplus(-x).",
          kinds="torchscript"),
    Fault("unfold-axis", ONNX, r"^unfold \| x.unfold\(dim", "Tensor.unfold", "a negative axis",
          "windows along another axis", "inserts the axis of windows before the last one",
          "Give the axis from the front.", kinds="torchscript"),
    Fault("distance-epsilon", ONNX, r"^(cdist|pairwise_distance) \|", "pairwise_distance, cdist",
          "p other than 2, odd powers of negative differences, and any epsilon",
          "NaN or another distance",
          "takes powers of differences without their magnitude, and puts the epsilon in the root",
          WRITE_OUT, kinds="torchscript"),
    Fault("pool-divisor", ONNX, r"^avg_pool.d \|.*divisor_override", "avg_pool",
          "divisor_override", "the mean of the window", "does not read divisor_override",
          "Multiply the mean by the window's size and divide.", kinds="torchscript"),
    Fault("clamp-type", ONNX, r"^clamp(_min|_max)? \|.*9:int", "clamp",
          "bounds that are fractions or infinite, for integers",
          "values clamped to bounds that are truncated, or overflow",
          "casts the bounds to the integers' type", "Cast to floats first.", kinds="torchscript"),
    Fault("any-sum", ONNX, r"^any \|", "any", "numbers that are not booleans",
          "false where the values, truncated, do not sum to more than 0",
          "casts to int64 and compares the sum with 0", "Write (x != 0).any(dim).",
          kinds="torchscript"),
    Fault("all-type", ONNX, r"^all \|", "all", "numbers that are not booleans", "an invalid file",
          "applies Not to numbers", "Write (x != 0).all(dim).", kinds="torchscript"),
    Fault("atan2-type", ONNX, r"^atan2 \|", "atan2", "integers", "an invalid file",
          "divides as integers, before it casts", "Cast to floats first.", kinds="torchscript"),
    Fault("cosine-broadcast", ONNX, r"^cosine_similarity \|", "cosine_similarity",
          "operands of different shapes, where the axis is broadcast", "another similarity",
          "sums the squares before they are broadcast", "Expand the operands first.",
          kinds="torchscript"),
    Fault("added-repeatedly", ONNX, r"^(index_add|index_put) \|", "index_add, index_put",
          "an index that occurs more than once", "one of the values instead of their sum",
          "writes ScatterElements or ScatterND without a reduction, for the opset",
          "Export with opset 18 or later.", kinds="torchscript"),
    Fault("variance-shape", ONNX, r"^(var|std) \|.*dim=None", "var, std",
          "keepdim without axes", "a value without axes",
          "does not read keepdim if there are no axes", "Give all axes.", kinds="torchscript"),
    Fault("squeezed-constant", ONNX, r"^squeeze \| x.squeeze\(\) .*as constants", "squeeze",
          "a constant, without an axis", "another shape", "folds the constant with other axes",
          "Give the axes.", kinds="torchscript"),
    Fault("not-numbers", ONNX, r"^(gelu|hardshrink|softshrink|remainder) \|.*special",
          "gelu, hardshrink, softshrink, remainder", "NaN or infinite values",
          "NaN where PyTorch has a number, or the reverse",
          "writes formulas of operations that compute otherwise there",
          "Replace such values first.", kinds="torchscript"),
)
