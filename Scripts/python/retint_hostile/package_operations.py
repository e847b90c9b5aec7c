"""Packages whose operations have absurd parameters.

Each program has one such operation. The mean of its result is added to the output, so that it is
computed and not left out as dead code.
"""

from . import mil
from .case import Case, REFUSED, TOLERATED, label, named_once
from .numbers import FLOATS, INT32, INT32_MAX, INT32_MIN

ANY4 = [None] * 4
AXES = [-1, 4, -5, 17, INT32_MAX, INT32_MIN]
FACTORS = [0.0, -1.0, 0.5, 1e-45, 2.0**13, 2.0**24, 2.0**31, 2.0**40, 2.0**62, 3e38, -3e38,
           float("nan"), float("inf")]
WEIGHT = ("weight", lambda kernel=1: mil.value([0.1] * (2 * kernel * kernel),
                                               [2, 1, kernel, kernel]))


def ints(*values):
    return mil.value(list(values))


def _convolution(**changes):
    parameters = {
        "x": "input", "weight": mil.value([0.1] * 18, [2, 1, 3, 3]), "strides": ints(1, 1),
        "pad_type": mil.value("custom"), "pad": ints(1, 1, 1, 1), "dilations": ints(1, 1),
        "groups": mil.value(1)}
    return {**parameters, **changes}


def _transposed(**changes):
    return {**_convolution(weight=mil.value([0.1] * 18, [1, 2, 3, 3])), **changes}


def _pool(**changes):
    parameters = {
        "x": "input", "kernel_sizes": ints(2, 2), "strides": ints(2, 2),
        "pad_type": mil.value("custom"), "pad": ints(0, 0, 0, 0), "ceil_mode": mil.value(False)}
    return {**parameters, **changes}


def _slice(**changes):
    parameters = {"x": "input", "begin": ints(0, 0, 0, 0), "end": ints(1, 1, 8, 8),
                  "stride": ints(1, 1, 1, 1)}
    return {**parameters, **changes}


def _windows(kind, make):
    """The parameters of a window, each with absurd numbers in one or all places."""
    for number in INT32:
        yield kind, f"strides={number}", make(strides=ints(number, number))
        yield kind, f"stride-x={number}", make(strides=ints(1, number))
        yield kind, f"pad={number}", make(pad=ints(*[number] * 4))
        yield kind, f"pad-left={number}", make(pad=ints(0, 0, number, 0))
        if kind.startswith("conv"):
            yield kind, f"dilations={number}", make(dilations=ints(number, number))
            yield kind, f"same-dilations={number}", make(
                dilations=ints(number, number), pad_type=mil.value("same"))
            yield kind, f"groups={number}", make(groups=mil.value(number))
        else:
            yield kind, f"kernel={number}", make(kernel_sizes=ints(number, number))
            yield kind, f"same-kernel={number}", make(
                kernel_sizes=ints(number, 1), pad_type=mil.value("same"))
            yield kind, f"ceil-strides={number}", make(
                strides=ints(number, number), ceil_mode=mil.value(True))
            yield kind, f"ceil-pad={number}", make(
                pad=ints(*[number] * 4), ceil_mode=mil.value(True))
        yield kind, f"same-strides={number}", make(
            strides=ints(number, number), pad_type=mil.value("same_lower"))
    for count in (0, 1, 3, 17):
        numbers = mil.value([1] * count, [count], mil.INT32)
        yield kind, f"{count}-strides", make(strides=numbers)
        yield kind, f"{count}-pads", make(pad=numbers)


def _shapes():
    """Parameters that are shapes, counts or places."""
    for number in INT32:
        yield "reshape", f"shape={number}", {"x": "input", "shape": ints(number)}
        yield "reshape", f"pair={number}", {"x": "input", "shape": ints(number, -1)}
        yield "reshape", f"product={number}", {"x": "input", "shape": ints(number, number, 64)}
        yield "pad", f"before={number}", {"x": "input", "pad": ints(number, 0, 0, 0)}
        for mode in ("reflect", "replicate"):
            yield "pad", f"{mode}={number}", {
                "x": "input", "pad": ints(number, number), "mode": mil.value(mode)}
        yield "tile", f"reps={number}", {"x": "input", "reps": ints(1, number, 1, number)}
        yield "slice_by_index", f"begin={number}", _slice(begin=ints(0, 0, number, 0))
        yield "slice_by_index", f"end={number}", _slice(end=ints(1, 1, number, 8))
        yield "slice_by_index", f"stride={number}", _slice(stride=ints(1, 1, number, 1))
        yield "slice_by_index", f"squeezed={number}", _slice(
            begin=ints(0, 0, number, 0), squeeze_mask=mil.value([False, False, True, False]))
        yield "slice_by_size", f"size={number}", {
            "x": "input", "begin": ints(0, 0, 0, 0), "size": ints(1, 1, number, 8)}
        yield "crop", f"crop={number}", {
            "x": "input", "crop_height": ints(number, 0), "crop_width": ints(0, number)}
        yield "pixel_shuffle", f"factor={number}", {
            "x": "input", "upscale_factor": mil.value(number)}
        yield "pixel_unshuffle", f"factor={number}", {
            "x": "input",
            "downscale_factor": mil.value((number % 2**32).to_bytes(4, "little"), [], mil.UINT32)}
        yield "space_to_depth", f"size={number}", {"x": "input", "block_size": mil.value(number)}
        yield "depth_to_space", f"size={number}", {"x": "input", "block_size": mil.value(number)}
        yield "split", f"count={number}", {
            "x": "input", "num_splits": mil.value(number), "axis": mil.value(2)}
        yield "split", f"sizes={number}", {
            "x": "input", "split_sizes": ints(number, 8), "axis": mil.value(2)}
        yield "gather", f"index={number}", {
            "x": "input", "indices": ints(number, 0), "axis": mil.value(2)}
        yield "resize_bilinear", f"target={number}", {
            "x": "input", "target_size_height": mil.value(number),
            "target_size_width": mil.value(number)}
        yield "resize_nearest_neighbor", f"target={number}", {
            "x": "input", "target_size_height": mil.value(number),
            "target_size_width": mil.value(8)}
    for count in (0, 16, 17, 100_000):
        ones = mil.value([1] * count, [count], mil.INT32)
        yield "reshape", f"rank={count}", {"x": "input", "shape": ones}
        yield "tile", f"rank={count}", {"x": "input", "reps": ones}
        yield "transpose", f"rank={count}", {"x": "input", "perm": ones}
        yield "expand_dims", f"rank={count}", {
            "x": "input", "axes": mil.value(list(range(count)), [count], mil.INT32)}
        yield "squeeze", f"rank={count}", {"x": "input", "axes": ones}
        yield "gather", f"count={count}", {"x": "input", "indices": mil.value(
            [0] * count, [count], mil.INT32), "axis": mil.value(2)}


def _sizes():
    """Numbers that are in range, and results that are too large to compute."""
    for size in (4096, 8191, 8192, 16_384, 46_341):
        yield "resize_bilinear", f"size={size}", {
            "x": "input", "target_size_height": mil.value(size),
            "target_size_width": mil.value(size)}
        yield "resize_nearest_neighbor", f"size={size}", {
            "x": "input", "target_size_height": mil.value(size // 8 * 8),
            "target_size_width": mil.value(size // 8 * 8)}
        yield "upsample_bilinear", f"size={size}", {
            "x": "input", "scale_factor_height": mil.value(size / 8.0),
            "scale_factor_width": mil.value(size / 8.0), "align_corners": mil.value(False),
            "half_pixel_centers": mil.value(False)}
        yield "pad", f"size={size}", {"x": "input", "pad": ints(size, 0, size, 0)}
        yield "tile", f"size={size}", {"x": "input", "reps": ints(1, 1, size // 8, size // 8)}
        yield "conv_transpose", f"size={size}", _transposed(strides=ints(size // 8, size // 8))


def _axes():
    """Axes out of range, and twice the same."""
    for axis in AXES:
        for kind in ("softmax", "cumsum"):
            yield kind, f"axis={axis}", {"x": "input", "axis": mil.value(axis)}
        for kind in ("concat", "stack"):
            yield kind, f"axis={axis}", {"values": ["input", "input"], "axis": mil.value(axis)}
        yield "gather", f"axis={axis}", {
            "x": "input", "indices": ints(0), "axis": mil.value(axis)}
        for kind in ("reduce_mean", "reduce_max", "expand_dims", "squeeze", "layer_norm",
                     "reverse"):
            yield kind, f"axes={axis}", {"x": "input", "axes": ints(axis, axis)}
        yield "transpose", f"perm={axis}", {"x": "input", "perm": ints(0, 1, axis, 3)}


def _factors():
    for factor in FACTORS:
        given = mil.value(factor)
        for kind in ("upsample_bilinear", "upsample_nearest_neighbor"):
            yield kind, f"factor={factor}", {
                "x": "input", "scale_factor_height": given, "scale_factor_width": mil.value(1.0)}
        yield "upsample_bilinear", f"legacy={factor}", {
            "x": "input", "scale_factor_height": given, "scale_factor_width": given,
            "align_corners": mil.value(False), "half_pixel_centers": mil.value(False)}


def _scalars():
    """Parameters of functions: any number is fine, none may trap."""
    parameters = [
        ("leaky_relu", "alpha"), ("elu", "alpha"), ("thresholded_relu", "alpha"),
        ("pad", "constant_val"), ("clip", "alpha"), ("sigmoid_hard", "alpha"),
        ("log", "epsilon"), ("rsqrt", "epsilon"), ("inverse", "epsilon"),
        ("scaled_tanh", "alpha"), ("softplus_parametric", "alpha"), ("linear_activation", "alpha")]
    rest = {"pad": {"pad": ints(1, 1)}, "clip": {"beta": mil.value(0.0)},
            "sigmoid_hard": {"beta": mil.value(0.5)}, "scaled_tanh": {"beta": mil.value(1.0)},
            "linear_activation": {"beta": mil.value(1.0)}}
    for kind, parameter in parameters:
        for number in FLOATS:
            yield kind, f"{parameter}={number}", {
                "x": "input", parameter: mil.value(number), **rest.get(kind, {})}


def _vectors():
    """Vectors of wrong lengths, and operands that do not broadcast."""
    for count in (0, 2, 17):
        vector = mil.value([1.0] * count, [count], mil.FLOAT32) if count else mil.value(
            [], [0], mil.FLOAT32)
        yield "batch_norm", f"count={count}", {"x": "input", "mean": vector, "variance": vector}
        yield "instance_norm", f"count={count}", {"x": "input", "gamma": vector, "beta": vector}
        yield "layer_norm", f"count={count}", {
            "x": "input", "gamma": vector, "beta": vector, "axes": ints(3)}
        yield "prelu", f"count={count}", {"x": "input", "alpha": vector}
        yield "add", f"count={count}", {"x": "input", "y": vector}
        yield "matmul", f"count={count}", {"x": "input", "y": vector}
        yield "linear", f"count={count}", {"x": "input", "weight": vector}
        yield "conv", f"bias={count}", _convolution(bias=vector)
        yield "conv", f"weight={count}", _convolution(weight=vector)
    for rank in (0, 1, 3, 5, 16):
        yield "conv", f"weight-rank={rank}", _convolution(weight=mil.value([1.0], [1] * rank))
        yield "matmul", f"rank={rank}", {"x": "input", "y": mil.value([1.0], [1] * rank)}
        yield "add", f"rank={rank}", {"x": "input", "y": mil.value([1.0], [1] * rank)}


def _output_shapes():
    for number in INT32:
        yield "conv_transpose", f"output={number}", _transposed(
            output_shape=ints(1, 2, number, number))


def _kinds():
    yield from _windows("conv", _convolution)
    yield from _windows("conv_transpose", _transposed)
    yield from _output_shapes()
    yield from _windows("max_pool", _pool)
    yield from _windows("avg_pool", _pool)
    yield from _shapes()
    yield from _sizes()
    yield from _axes()
    yield from _factors()
    yield from _scalars()
    yield from _vectors()


# The ranks of results that are not those of the input.
RANKS = {"stack": 5, "reshape": None, "expand_dims": None, "squeeze": None}


def _ranks(kind, subject, inputs):
    """The number of dimensions that the result is declared with, as far as it has one."""
    if kind == "reshape":
        return [len(inputs["shape"].immediateValue.tensor.ints.values)]
    if kind == "expand_dims":
        return [min(5, 4 + len(set(inputs["axes"].immediateValue.tensor.ints.values)))]
    if kind in ("squeeze", "reduce_mean", "reduce_max"):
        return [3]
    if kind == "slice_by_index" and subject.startswith("squeezed"):
        return [3]
    if kind == "split":
        return [4, 4]
    return [5 if kind == "stack" else 4]


def _files(kind, subject, inputs):
    def write(folder):
        program = mil.Program()
        ranks = _ranks(kind, subject, inputs)
        result = program.add(kind, inputs, [[None] * min(rank, 64) for rank in ranks])
        program.finish(result).write(folder)

    return write


def _computed():
    """Shapes that are computed from the input's sizes, [1, 1, 8, 8], with absurd numbers."""
    vectors = [(kind, f"{number}", ints(1, 1, number, number))
               for kind in ("add", "sub", "mul", "floor_div", "mod", "real_div", "maximum", "pow")
               for number in (*INT32, 0, 3)]
    vectors += [(kind, f"{number}-floats", mil.value([1.0, 1.0, number, number]))
                for kind in ("mul", "real_div", "pow")
                for number in (0.0, 1e38, -1.0, float("nan"), float("inf"))]
    for kind, label_of, vector in vectors:
        for taker in ("reshape", "tile"):
            yield f"{taker}-{kind}", label_of, kind, {"y": vector}, taker
    for number in (*INT32, 4, -5):
        yield "reshape-gather", f"index={number}", "gather", {
            "indices": ints(0, 1, 2, number), "axis": mil.value(0)}, "reshape"
        yield "reshape-slice", f"size={number}", "slice_by_size", {
            "begin": ints(0), "size": ints(number)}, "reshape"
        yield "reshape-repeated", f"{number}", "tile", {"reps": ints(number)}, "reshape"
        yield "reshape-axis", f"{number}", "reduce_prod", {"axes": ints(number)}, "reshape"


def _computed_files(kind, inputs, taker):
    def write(folder):
        program = mil.Program()
        sizes = program.add("shape", {"x": "input"}, [(mil.INT32, [4])])
        rank = None if kind in ("slice_by_size", "tile", "reduce_prod") else 4
        wanted = program.add(kind, {"x": sizes, **inputs}, [(mil.INT32, [rank])])
        parameter = {"reshape": "shape", "tile": "reps"}[taker]
        result = program.add(taker, {"x": "input", parameter: wanted}, [ANY4])
        program.finish(result).write(folder)

    return write


# Every third case also goes through another reader of programs.
COMMANDS = [
    ("verify", "model.mlpackage", "--against", "model.mlpackage", "--json"),
    ("verify", "model.mlpackage", "--against", "model.mlpackage", "--compute", "float16"),
    ("evaluate", "model.mlpackage", "--data", "base/photos", "--json"),
    ("verify", "model.mlpackage", "--against", "model.mlpackage", "--layers"),
    ("colorize", "model.mlpackage", "base/photo.png", "-o", "out"),
]

# Refused whatever the rest of the program is.
ALWAYS_REFUSED = {
    ("strides", "0"), ("strides", "-1"), ("groups", "0"), ("groups", "-1"), ("kernel", "0"),
    ("kernel", "-1"), ("reps", "0"), ("reps", "-1"), ("factor", "0.0"), ("factor", "-1.0"),
    ("factor", "nan"), ("factor", "inf"), ("target", "0"), ("target", "-1"), ("size", "0"),
    ("dilations", "0"), ("dilations", "-1"), ("stride", "0"), ("count", "-1"),
}


def cases(base):
    """One case for each operation and parameter, in turn with the commands that read packages."""
    made = []
    for index, (kind, subject, inputs) in enumerate(_kinds()):
        parameter, _, number = subject.partition("=")
        command = COMMANDS[index % len(COMMANDS)]
        must_fail = (parameter, number) in ALWAYS_REFUSED
        keeps = ("out",) if command[0] == "colorize" else ()
        made.append(Case(
            f"operation/{kind}/{label(subject)}", REFUSED if must_fail else TOLERATED,
            command, _files(kind, subject, inputs), keeps=keeps))
    for index, (kind, subject, operation, inputs, taker) in enumerate(_computed()):
        command = COMMANDS[index % len(COMMANDS)]
        keeps = ("out",) if command[0] == "colorize" else ()
        made.append(Case(
            f"operation/{kind}/{label(subject)}", TOLERATED, command,
            _computed_files(operation, inputs, taker), keeps=keeps))
    return named_once(made)
