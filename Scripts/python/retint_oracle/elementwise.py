"""Operations on each element by itself, with one, two or three operands."""

from .rows import Row, each, product, unary

RANKS = ("7", "2x3", "2x3x4", "1x2x3x4", "1x2x2x3x2")

FUNCTIONS = (
    *unary("abs neg sign square", "2x3x4", "1", "0d", "1x2x3x4", "10:signs", "9:int", "8:special"),
    *unary("exp exp2 expm1 sigmoid tanh erf sin cos atan sinh cosh asinh",
           "2x3x4", "0d", "9:large", "8:special", "6:int"),
    *unary("sqrt rsqrt log log2 log10 log1p reciprocal",
           "2x3x4:positive", "0d:positive", "6:natural", "9:above", "8:special"),
    *unary("tan asin acos atanh", "2x3x4:unit", "0d:unit", "8:special", "10:signs"),
    *unary("acosh", "2x3x4:above", "8:special"),
    *unary("ceil floor round trunc frac", "2x3x4", "18:ties", "0d", "9:int", "8:special",
           "9:huge"),
    *unary("isnan isinf isfinite", "2x3x4", "16:special", "9:int"),
    *unary("signbit sgn erfc erfinv lgamma digamma deg2rad rad2deg logit sinc positive",
           "2x3x4:share", "10:signs"),
    *unary("logical_not", "2x3:bool", "10:signs", "9:int", "8:special"),
    *unary("bitwise_not", "9:int", "2x3:bool", "6:long"),
    *unary("relu relu6 silu mish softsign hardswish hardsigmoid hardtanh logsigmoid tanhshrink "
           "selu elu celu gelu leaky_relu softplus softshrink hardshrink",
           "2x3x4", "0d", "10:signs", "9:large", "8:special", "18:ties", "1x2x3x4:wide",
           call="F.{}(x)"),
    Row("relu", "F.relu(x)", inputs=("9:int",)),
    Row("round", "torch.round(x, decimals=decimals)", grid=product(decimals=[1, 2, -1, 0]),
        inputs=("18:ties", "2x3:wide")),
    Row("nan_to_num", "torch.nan_to_num(x)", inputs=("8:special", "9:int")),
    Row("nan_to_num", "torch.nan_to_num(x, nan, posinf, neginf)",
        grid=each(nan=[0.0, 2.5], posinf=[100.0, None, 7.0], neginf=[-100.0, None, -3.0]),
        inputs=("8:special",)),
)

ACTIVATIONS = (
    Row("elu", "F.elu(x, alpha)", grid=product(alpha=[1.0, 0.5, 2.0, -1.0]),
        inputs=("2x3x4", "9:large")),
    Row("celu", "F.celu(x, alpha)", grid=product(alpha=[1.0, 0.5, 2.0]), inputs=("2x3x4:wide",)),
    Row("elu", "torch.ops.aten.elu(x, alpha, scale, input_scale)",
        grid=each(alpha=[1.0, 0.5], scale=[1.0, 2.0], input_scale=[1.0, 3.0])),
    Row("leaky_relu", "F.leaky_relu(x, slope)", grid=product(slope=[0.01, 0.2, 0.0, 1.5, -0.5]),
        inputs=("2x3x4", "18:ties")),
    Row("gelu", "F.gelu(x, approximate=approximate)",
        grid=product(approximate=["none", "tanh"]), inputs=("2x3x4:wide", "9:large", "8:special")),
    Row("softplus", "F.softplus(x, beta, threshold)",
        grid=each(beta=[1, 2, 0.5, -1.0], threshold=[20, 1, 5, 0])
        + product(beta=[3.0], threshold=[2.0]),
        inputs=("2x3x4:wide", "9:large", "1x2x3x4:wide")),
    Row("hardtanh", "F.hardtanh(x, low, high)",
        grid=each(low=[-1.0, 0.0, -0.5, 0.5], high=[1.0, 6.0, 2.0]), inputs=("2x3x4", "18:ties")),
    Row("hardtanh", "F.hardtanh(x, low, high)", grid=({"low": -2, "high": 3},),
        inputs=("9:int",)),
    Row("threshold", "F.threshold(x, threshold, value)",
        grid=each(threshold=[0.0, 0.5, -0.5, 1.0], value=[0.0, -1.0, 20.0, 0.5]),
        inputs=("2x3x4", "18:ties")),
    Row("hardshrink", "F.hardshrink(x, bound)", grid=product(bound=[0.5, 1.0, 0.0]),
        inputs=("2x3x4", "18:ties")),
    Row("softshrink", "F.softshrink(x, bound)", grid=product(bound=[0.5, 1.0, 0.0]),
        inputs=("2x3x4", "18:ties")),
    Row("prelu", "m(x)", layer="nn.PReLU({count}, {init})",
        grid=product(count=[1, 3], init=[0.25, -0.5, 2.0]),
        inputs=("2x3", "2x3x4", "1x3x4x4", "1x3x2x3x2")),
    Row("rrelu", "F.rrelu(x, low, high)", grid=each(low=[0.125, 0.1], high=[0.3333, 0.5])),
    Row("glu", "F.glu(x, dim)", grid=product(dim=[-1, 0, 1, 2]), inputs=("2x4x6", "2x4x6:large")),
    *(Row(name, f"F.{name}(x, dim)", grid=product(dim=[-1, 0, 1, -2]),
          inputs=("2x3x4", "2x3x4:large", "2x5")) for name in (
              "softmax", "log_softmax", "softmin")),
    Row("softmax", "F.softmax(x, 0)", inputs=("5", "0d", "5:large")),
    Row("softmax", "torch.softmax(x, -1, dtype=torch.float32)",
        inputs=("2x5", "2x5:half", "2x5:int")),
    Row("log_softmax", "torch.log_softmax(x, 1, dtype=torch.float32)",
        inputs=("2x5", "2x5:half", "2x5:int")),
    Row("softmax", "F.softmax(x.masked_fill(y, float('-inf')), -1)", inputs=("3x5 3x5:bool",)),
    Row("logsigmoid", "F.logsigmoid(x)", inputs=("9:huge",)),
    Row("normalize", "F.normalize(x, p, dim, eps)",
        grid=each(p=[2.0, 1.0, 3.0, float("inf")], dim=[1, -1, 0], eps=[1e-12, 0.5]),
        inputs=("2x3x4", "2x3x4:signs")),
    Row("cosine_similarity", "F.cosine_similarity(x, y, dim, eps)",
        grid=each(dim=[1, -1, 0], eps=[1e-8, 0.5]), inputs=("2x3x4 2x3x4", "2x3x4 1x3x4")),
)

NUMBERS = "2x3x4 2x3x4", "2x3x4 4", "3 2x3", "2x1x4 3x1", "0d 2x3", "2x3 0d"
MIXED = "9:int 9:nonzero", "9:int 9", "9 9:nonzero", "3x9:whole 9:divisor", "2x3 3:positive!"
BITS = "9:int 9:int", "2x3:bool 2x3:bool", "2x3:bool 3:bool", "6:long 6:int"

BINARY = (
    *(Row(name, f"torch.{name}(x, y)", inputs=NUMBERS + MIXED) for name in (
        "add", "sub", "mul", "maximum", "minimum", "atan2", "rsub")),
    *(Row(name, f"torch.{name}(x, y)", inputs=("2x3 2x3:half", "2x3:half 2x3:half",
                                               "2x3:int 3:half", "2x3:double 3", "4:bool 4:bool",
                                               "4:bool 4", "4:bool 4:int", "0d:double 3",
                                               "16:special 16")) for name in (
        "add", "mul", "maximum")),
    *(Row(name, f"torch.{name}(x, y)", inputs=(
        "2x3x4 2x3x4:positive", "33:whole 33:divisor", "9:int 9:nonzero", "9 9:nonzero",
        "9:int 9:positive", "2x1x4 3x1:positive", "0d 2x3:positive", "9:large 9:positive",
        "9:int 4x9:nonzero", "9:long 9:nonzero", "8:special 8", "8 8:special"))
      for name in ("div", "true_divide", "floor_divide", "remainder", "fmod")),
    Row("div", "torch.div(x, y, rounding_mode=mode)", grid=product(mode=[None, "floor", "trunc"]),
        inputs=("33:whole 33:divisor", "9:int 9:nonzero", "9 9:positive", "9:long 9:nonzero",
                "9:int 9", "2x9:int 9:nonzero!", "9:bool 9:true")),
    Row("div", "torch.div(x, value, rounding_mode=mode)",
        grid=product(mode=[None, "floor", "trunc"], value=[2, -2, 3, 0.75, -0.75, 1, -1]),
        inputs=("22:whole", "9:int", "18:ties")),
    *(Row(name, f"{call}", grid=product(value=[2, -2, 3, 0.75, -0.75, -3.5, 1, -1]),
          inputs=("22:whole", "9:int", "18:ties")) for name, call in (
        ("remainder", "torch.remainder(x, value)"), ("fmod", "torch.fmod(x, value)"),
        ("floor_divide", "x // value"), ("mod", "x % value"),
        ("remainder", "value % torch.where(x == 0, 1, x)"),
        ("floor_divide", "value // torch.where(x == 0, 1, x)"))),
    *(Row("scalar", call, grid=product(value=[2, -3, 0.5, 0, 1, -1, True]),
          inputs=("2x3", "6:int", "6:bool", "0d"))
      for call in ("x + value", "value - x", "x - value", "value * x", "torch.rsub(x, value)")),
    *(Row("scalar", call, grid=product(value=[2, -3, 0.5, 1, -1]),
          inputs=("2x3:positive", "6:nonzero", "0d:positive"))
      for call in ("x / value", "value / x")),
    Row("pow", "torch.pow(x, value)",
        grid=product(value=[2, 3, -1, 0.5, 0, 1, -2, -0.5, 2.5, 4]),
        inputs=("2x3:positive", "6:nonzero", "0d:positive", "8:special")),
    Row("pow", "torch.pow(x, value)", grid=product(value=[2, 3, -1, 0, 5, -3]),
        inputs=("2x3", "11:signs")),
    Row("pow", "torch.pow(value, x)", grid=product(value=[2, 0.5, 3, 1, 10.0]),
        inputs=("2x3", "6:natural", "0d")),
    Row("pow", "torch.pow(x, y)", inputs=("2x3:positive 2x3", "2x3:positive 3", "9:int 9:natural",
                                          "9:whole 9:int", "9:positive 9:int", "4:natural 4")),
    *(Row(name, f"torch.{name}(x, y, alpha=alpha)",
          grid=product(alpha=[1, 2, -1, 3]), inputs=("2x3 2x3", "6:int 6:int", "2x3 3"))
      for name in ("add", "sub", "rsub")),
    *(Row(name, f"torch.{name}(x, y, alpha=alpha)", grid=product(alpha=[0.5, -2.5]),
          inputs=("2x3 2x3",)) for name in ("add", "sub", "rsub")),
    Row("add", "torch.add(x, 3, alpha=alpha)", grid=product(alpha=[1, 2, 0.5])),
    Row("sub", "torch.sub(x, 3, alpha=alpha)", grid=product(alpha=[1, 2, 0.5])),
    *(Row(name, f"torch.{name}(x, y)", inputs=(
        "18:ties 18:signs", "9:int 9:int", "9:int 9", "2x3:bool 2x3:bool", "2x3 3", "0d 3",
        "8:special 8", "8:special 8:special"))
      for name in ("eq", "ne", "lt", "le", "gt", "ge")),
    *(Row(name, f"torch.{name}(x, value)", grid=product(value=[0, 1, 0.5, True]),
          inputs=("18:ties", "9:int", "9:bool")) for name in ("eq", "ne", "lt", "ge")),
    *(Row(name, f"torch.{name}(x, y)", inputs=(
        "2x3:bool 2x3:bool", "2x3:bool 3:bool", "10:signs 10:bool", "9:int 9:int",
        "20:signs 20:equal", "8:special 8:signs"))
      for name in ("logical_and", "logical_or", "logical_xor")),
    *(Row(name, f"torch.{name}(x, y)", inputs=BITS)
      for name in ("bitwise_and", "bitwise_or", "bitwise_xor")),
    *(Row(name, f"x {sign} y", inputs=BITS[:2])
      for name, sign in (("bitwise_and", "&"), ("bitwise_or", "|"), ("bitwise_xor", "^"))),
    *(Row(name, f"x {sign} value", grid=product(value=[1, 6, -2]), inputs=("9:int", "9:natural"))
      for name, sign in (("bitwise_and", "&"), ("bitwise_or", "|"), ("bitwise_xor", "^"))),
    Row("bitwise_shift", "x << value", grid=product(value=[1, 3]), inputs=("9:int",)),
    Row("bitwise_shift", "x >> value", grid=product(value=[1, 2]), inputs=("9:int",)),
    Row("bitwise_shift", "x << y", inputs=("9:int 9:shift",)),
    *(Row(name, f"torch.{name}(x, y)", inputs=("2x3 2x3", "2x3:positive 3:positive"))
      for name in ("hypot", "logaddexp", "logaddexp2", "fmax", "fmin", "copysign", "xlogy",
                   "float_power", "heaviside", "ldexp")),
    *(Row(name, f"torch.{name}(x, y)", inputs=("8:special 8", "8 8:special", "9:equal 9:signs"))
      for name in ("fmax", "fmin", "maximum", "minimum")),
    Row("lerp", "torch.lerp(x, y, weight)", grid=product(weight=[0.25, 0.75, 2.0]),
        inputs=("2x3 2x3", "2x3 3")),
    Row("lerp", "torch.lerp(x, y, z)", inputs=("2x3 2x3 2x3:share", "2x3 3 2x1:share")),
    Row("addcmul", "torch.addcmul(x, y, z, value=value)", grid=product(value=[1, 0.5, -2]),
        inputs=("2x3 2x3 2x3", "2x3 3 2x1")),
    Row("addcdiv", "torch.addcdiv(x, y, z, value=value)", grid=product(value=[1, 0.5, -2]),
        inputs=("2x3 2x3 2x3:positive", "2x3 3 2x1:positive")),
    Row("mse_loss", "F.mse_loss(x, y, reduction=reduction)",
        grid=product(reduction=["mean", "sum", "none"]), inputs=("2x3 2x3",)),
    *(Row(name, f"F.{name}(x, y, reduction=reduction)",
          grid=product(reduction=["mean", "sum", "none"]), inputs=("2x3 2x3",))
      for name in ("l1_loss", "smooth_l1_loss", "huber_loss")),
    *(Row("in-place", f"inplace(x, '{name}', y)", inputs=("2x3 2x3:positive", "2x3 3:positive",
                                                         "6:int 6:nonzero", "6 6:nonzero"))
      for name in ("add_", "sub_", "mul_", "copy_", "remainder_", "div_", "floor_divide_")),
    *(Row("in-place", f"inplace(x, '{name}')", inputs=("2x3", "18:ties"))
      for name in ("relu_", "abs_", "neg_", "zero_", "sigmoid_", "round_", "exp_", "square_")),
    Row("in-place", "inplace(x, 'clamp_', -0.5, 1)"),
    Row("in-place", "inplace(x, 'fill_', value)", grid=product(value=[2, 0.5]),
        inputs=("2x3", "6:int")),
    Row("in-place", "inplace(x, 'masked_fill_', y, 3)", inputs=("2x3 2x3:bool", "6:int 6:bool")),
)

LIMITS = (
    Row("clamp", "torch.clamp(x, low, high)",
        grid=product(low=[None, -0.5, 0, 1.5, float("-inf")], high=[1, 0.25, -1])
        + product(low=[-0.5, 0, 1], high=[None, float("inf")]),
        inputs=("18:ties", "2x3x4", "9:int")),
    Row("clamp", "torch.clamp(x, low, high)", grid=product(low=[-2, 3], high=[4, 0, None]),
        inputs=("9:int", "8:special", "0d", "6:long")),
    Row("clamp", "torch.clamp(x, y, z)",
        inputs=("2x3 2x3:unit 2x3:positive", "2x3 3:unit 1:positive", "6 6:positive 6:unit",
                "6:int 6:int 6:natural", "2x3 3:unit! 3:positive!")),
    Row("clamp", "torch.clamp(x, min=y)", inputs=("2x3 2x3", "2x3 3", "6:int 6:int", "6 6:int")),
    Row("clamp", "torch.clamp(x, max=y)", inputs=("2x3 2x3", "2x3 3", "6:int 6:int")),
    *(Row(name, f"torch.{name}(x, value)", grid=product(value=[0, 0.5, -1]),
          inputs=("18:ties", "9:int")) for name in ("clamp_min", "clamp_max")),
    *(Row(name, f"torch.{name}(x, y)", inputs=("2x3 2x3", "2x3 3"))
      for name in ("clamp_min", "clamp_max")),
)

CHOICES = (
    Row("where", "torch.where(x, y, z)",
        inputs=("2x3:bool 2x3 2x3", "3:bool 2x3 1x3", "2x1:bool 3 2x3", "2x3:bool 2x3:int 2x3",
                "6:bool 6:int 6:int", "6:bool 6:half 6", "0d:bool 3 3", "8:bool 8:special 8",
                "3:bool! 2x3 2x3")),
    Row("where", "torch.where(x > 0, y, value)", grid=product(value=[0, 1.5, -2]),
        inputs=("2x3 2x3", "3 2x3", "2x3 2x3:int")),
    Row("where", "torch.where(x > 0, value, y)", grid=product(value=[0, 1.5]),
        inputs=("2x3 2x3", "6 6:int")),
    Row("where", "torch.where(x > 0, 1.5, 0.25)", inputs=("2x3", "6:int")),
    Row("where", "torch.where(x > 0, 1, 0)", inputs=("2x3", "6:int")),
    Row("where", "torch.where(x > 0, x, torch.zeros_like(x))", inputs=("8:special", "2x3")),
    Row("masked_fill", "x.masked_fill(y, value)",
        grid=product(value=[0, 2.5, float("-inf"), -1e9, -1e4, True]),
        inputs=("2x3 2x3:bool", "2x3 3:bool", "2x2x3 2x1x3:bool")),
    Row("masked_fill", "x.masked_fill(y, value)", grid=product(value=[0, 3]),
        inputs=("6:int 6:bool", "3 2x3:bool", "6:bool 6:bool")),
    Row("masked_fill", "x.masked_fill(y, z)", inputs=("2x3 2x3:bool 0d", "2x3 3:bool 0d")),
)

TYPES = (
    Row("to", "x.to(getattr(torch, kind))",
        grid=product(kind=["float32", "float16", "int32", "int64", "bool", "float64", "int16",
                           "int8"]),
        inputs=("18:ties", "9:int", "6:bool", "10:signs", "9:wide")),
    Row("to", "x.to(torch.uint8)", inputs=("9:positive", "9:natural", "6:bool")),
    *(Row("to", f"x.{name}()", inputs=("18:ties", "9:int", "6:bool"))
      for name in ("int", "long", "float", "bool", "half")),
    Row("type_as", "x.type_as(y)", inputs=("18:ties 2:int", "9:int 2", "10:signs 2:bool")),
    Row("to", "x.to(y)", inputs=("18:ties 2:int", "9:int 2")),
    *(Row("promotion", call, inputs=("6:int", "6:bool", "6:half", "6:long"))
      for call in ("x * 0.5", "x + 1", "x / 2", "x * True", "x + torch.tensor(0.5)",
                   "torch.sqrt(x.abs() if x.dtype != torch.bool else x)", "x == 1.0",
                   "x * torch.tensor([0.5])", "(x * 3).sum() / 2", "x.float().mean()",
                   "torch.exp(x)", "torch.sigmoid(x)", "torch.sin(x)")),
)

ROWS = FUNCTIONS + ACTIVATIONS + BINARY + LIMITS + CHOICES + TYPES
