"""Layers: convolutions, pooling, normalization, resampling, attention and recurrence."""

from .rows import Row, each, product


def convolutions(rank):
    shape = {1: "1x4x9", 2: "1x4x7x6", 3: "1x4x5x4x5"}[rank]
    make = (f"nn.Conv{rank}d(4, {{out}}, {{kernel}}, {{stride}}, {{padding!r}}, {{dilation}}, "
            "{groups}, {bias}, {mode!r})")
    uneven = {1: (2,), 2: (2, 1), 3: (1, 2, 0)}[rank]
    return Row(f"conv{rank}d", "m(x)", layer=make, inputs=(shape,), grid=each(
        {"out": 6, "kernel": 3, "stride": 1, "padding": 0, "dilation": 1, "groups": 1,
         "bias": True, "mode": "zeros"},
        kernel=[1, 2, {1: 4, 2: (3, 2), 3: (1, 2, 3)}[rank]], stride=[2, {
            1: 3, 2: (2, 1), 3: (1, 2, 2)}[rank]],
        padding=[1, uneven, "same", "valid"], dilation=[2], groups=[2], bias=[False])
        + product(out=[4, 8], kernel=[3], stride=[1, 2], padding=[1], dilation=[1], groups=[4],
                  bias=[True], mode=["zeros"])
        + product(out=[4], kernel=[2, 4, 3], stride=[1], padding=["same"], dilation=[1, 2],
                  groups=[1, 2], bias=[True], mode=["zeros"])
        + (product(out=[4], kernel=[3, 2], stride=[1], padding=[1, uneven, "same"], dilation=[1],
                   groups=[1], bias=[True], mode=["reflect", "replicate", "circular"])
           if rank < 3 else product(
               out=[4], kernel=[3], stride=[1], padding=[1], dilation=[1], groups=[1],
               bias=[True], mode=["replicate", "circular"])))


def transposed(rank):
    shape = {1: "1x4x5", 2: "1x4x5x4", 3: "1x4x3x4x3"}[rank]
    make = (f"nn.ConvTranspose{rank}d(4, {{out}}, {{kernel}}, {{stride}}, {{padding}}, "
            "{output}, {groups}, {bias}, {dilation})")
    default = {"out": 6, "kernel": 3, "stride": 2, "padding": 0, "output": 0, "groups": 1,
               "bias": True, "dilation": 1}
    return Row(f"conv_transpose{rank}d", "m(x)", layer=make, inputs=(shape,), grid=each(
        default, kernel=[2, 4, 1], stride=[1, 3], padding=[1, 2], output=[1], groups=[2],
        bias=[False], dilation=[2])
        + product(out=[4], kernel=[3, 4], stride=[2, 3], padding=[0, 1, 2], output=[0, 1],
                  groups=[1, 4], bias=[True], dilation=[1])
        + product(out=[4], kernel=[3], stride=[2], padding=[1], output=[1], groups=[2],
                  bias=[True, False], dilation=[2])
        + (({**default, "stride": (2, 1), "padding": (1, 0), "output": (1, 0)},
            {**default, "stride": (2, 3), "padding": (0, 1), "output": (1, 2)},
            {**default, "kernel": (3, 2), "padding": (1, 0), "stride": (1, 2)},
            {**default, "padding": (2, 1), "output": (0, 1)}) if rank == 2 else ()))


def pools(rank):
    shape = {1: "1x2x9", 2: "1x2x8x7", 3: "1x2x6x5x7"}[rank]
    batchless = {1: "2x9", 2: "2x8x7", 3: "2x6x5x7"}[rank]
    largest = Row(
        f"max_pool{rank}d",
        f"F.max_pool{rank}d(x, kernel, stride, padding, dilation, ceil_mode=ceil)",
        inputs=(shape, batchless), grid=each(
            kernel=[3, 2], stride=[2, 1, 3, None], padding=[0, 1], dilation=[1, 2],
            ceil=[False, True])
        + product(kernel=[2, 3], stride=[2, 3], padding=[0, 1], dilation=[1], ceil=[True])
        + product(kernel=[3], stride=[1, 2], padding=[1], dilation=[2], ceil=[True]))
    counts = ", count_include_pad=counts"
    mean = Row(
        f"avg_pool{rank}d", f"F.avg_pool{rank}d(x, kernel, stride, padding, ceil{counts})",
        inputs=(shape,), grid=each(
            kernel=[3, 2], stride=[2, 1, 3, None], padding=[0, 1], ceil=[False, True],
            counts=[True, False])
        + product(kernel=[2, 3], stride=[2, 3], padding=[0, 1], ceil=[False, True],
                  counts=[True, False]))
    more = [largest, mean]
    if rank > 1:
        more.append(Row(
            f"avg_pool{rank}d",
            f"F.avg_pool{rank}d(x, 3, 2, 1, divisor_override=divisor)",
            grid=product(divisor=[1, 2, 5]), inputs=(shape,)))
    more += [Row(f"adaptive_{kind}_pool{rank}d", f"F.adaptive_{kind}_pool{rank}d(x, size)",
                 grid=product(size=sizes), inputs=(shape, even))
             for kind in ("avg", "max")
             for even, sizes in (({1: "1x2x12", 2: "1x2x12x6", 3: "1x2x4x6x2"}[rank],
                                  {1: [1, 3, 5], 2: [1, (3, 2), (1, 3), (5, 4), (None, 2)],
                                   3: [1, (2, 3, 1)]}[rank]),)]
    more.append(Row(f"lp_pool{rank}d", f"F.lp_pool{rank}d(x, p, 2)", grid=product(p=[2, 1, 3]),
                    inputs=(shape,)))
    return more


POOLS = (*(row for rank in (1, 2, 3) for row in pools(rank)),
         Row("max_pool2d", "F.max_pool2d(x, (3, 2), (2, 1), (1, 0), ceil_mode=ceil)",
             grid=product(ceil=[False, True]), inputs=("1x2x8x7",)),
         Row("max_pool2d", "F.max_pool2d(x, 3, 2, 1)", inputs=("1x2x8x8:large",)),
         Row("max_pool2d", "F.max_pool2d(x - 200, 3, 2, 1)", inputs=("1x2x8x8",)),
         Row("avg_pool2d", "F.avg_pool2d(x, (3, 2), (2, 3), (1, 0), ceil, counts)",
             grid=product(ceil=[False, True], counts=[True, False]), inputs=("1x2x8x7",)),
         Row("max_pool_indices", "F.max_pool2d(x, 2, return_indices=True)[1]",
             inputs=("1x2x4x4:distinct",)))

PADS = (
    Row("pad", "F.pad(x, sizes, mode, value)",
        grid=product(sizes=[(1, 2), (0, 1), (1, 2, 0, 1), (0, 0, 2, 1), (-1, 1), (-1, -1),
                            (1, -1, -1, 2)], mode=["constant"], value=[0.0, 2.5, None, -1.0]),
        inputs=("2x3x4", "1x2x4x5")),
    Row("pad", "F.pad(x, sizes)", grid=product(sizes=[(1, 2, 1, 0, 0, 1), (0, 0, 0, 0, 1, 2)]),
        inputs=("2x3x4", "1x2x3x4")),
    Row("pad", "F.pad(x, (1, 2), value=value)", grid=product(value=[0, 3]),
        inputs=("6:int", "2x3", "5")),
    Row("pad", "F.pad(x, sizes, mode=mode)",
        grid=product(sizes=[(1, 2), (2, 0), (0, 3)], mode=["reflect", "replicate", "circular"]),
        inputs=("1x2x5", "2x5")),
    Row("pad", "F.pad(x, sizes, mode=mode)",
        grid=product(sizes=[(1, 2, 0, 1), (1, 1, 1, 1), (2, 0, 0, 0), (0, 0, 1, 3), (0, 2, 3, 0)],
                     mode=["reflect", "replicate", "circular"]), inputs=("1x2x5x4", "2x5x4")),
    Row("pad", "F.pad(x, sizes, mode=mode)",
        grid=product(sizes=[(1, 0, 2, 1, 0, 1)], mode=["reflect", "replicate", "circular"]),
        inputs=("1x2x4x4x4",)),
    *(Row("pad", "m(x)", layer=layer, inputs=inputs) for layer, inputs in (
        ("nn.ReflectionPad1d((2, 1))", ("1x2x5",)), ("nn.ReplicationPad1d((2, 1))", ("1x2x5",)),
        ("nn.ReflectionPad2d((2, 1, 0, 3))", ("1x2x5x5",)), ("nn.ZeroPad2d((2, 1, 0, 3))", (
            "1x2x5x5",)), ("nn.ReplicationPad3d(1)", ("1x2x3x3x3",)),
        ("nn.ConstantPad1d((1, 2), 3.5)", ("1x2x5",)))),
)

NORMALIZATION = (
    *(Row(f"batch_norm{rank}d", "m(x)",
          layer=f"nn.BatchNorm{rank}d(4, {{eps}}, affine={{affine}}, "
                "track_running_stats={tracks})",
          grid=each(eps=[1e-5, 0.5, 1e-12], affine=[True, False], tracks=[True, False])
          + product(eps=[0.1], affine=[False], tracks=[True, False]), inputs=inputs)
      for rank, inputs in ((1, ("2x4", "2x4x5")), (2, ("2x4x3x3",)), (3, ("2x4x2x3x2",)))),
    Row("batch_norm", "F.batch_norm(x, y, z, None, None, False, 0.1, 0.1)",
        inputs=("2x4x3x3 4! 4:positive!", "2x4x3x3 4 4:positive", "2x4 4! 4:positive!")),
    Row("batch_norm", "F.batch_norm(x, None, None, y, z, True)", inputs=("2x4x3x3 4! 4!",)),
    *(Row(f"instance_norm{rank}d", "m(x)",
          layer=f"nn.InstanceNorm{rank}d(4, {{eps}}, affine={{affine}}, "
                "track_running_stats={tracks})",
          grid=each(eps=[1e-5, 0.5], affine=[False, True], tracks=[False, True])
          + product(eps=[0.1], affine=[True], tracks=[True, False]), inputs=inputs)
      for rank, inputs in ((1, ("2x4x5", "4x5")), (2, ("2x4x3x3", "4x3x3")),
                           (3, ("2x4x2x3x2",)))),
    Row("layer_norm", "m(x)", layer="nn.LayerNorm({shape}, {eps}, {affine})",
        grid=each(shape=[4, (3, 4), (2, 3, 4)], eps=[1e-5, 0.5, 1e-12], affine=[True, False])
        + product(shape=[(3, 4)], eps=[0.5], affine=[False, True]),
        inputs=("2x3x4", "2x3x4:huge")),
    Row("layer_norm", "m(x)", layer="nn.LayerNorm(4, bias={bias})",
        grid=product(bias=[True, False]), inputs=("2x4", "4", "1x2x3x4", "1x2x1x3x4")),
    Row("layer_norm", "F.layer_norm(x, (4,), y, z, 1e-3)", inputs=("2x4 4! 4!", "2x4 4 4")),
    Row("layer_norm", "F.layer_norm(x, (4,), None, y)", inputs=("2x4 4!",)),
    Row("group_norm", "m(x)", layer="nn.GroupNorm({groups}, 4, {eps}, {affine})",
        grid=each(groups=[2, 1, 4], eps=[1e-5, 0.5], affine=[True, False])
        + product(groups=[1, 4], eps=[0.5], affine=[False, True]),
        inputs=("2x4", "2x4x5", "2x4x3x3", "1x4x2x3x2")),
    Row("rms_norm", "m(x)", layer="nn.RMSNorm({shape}, {eps}, {affine})",
        grid=each(shape=[4, (3, 4)], eps=[None, 1e-5, 0.5], affine=[True, False]),
        inputs=("2x3x4", "2x3x4:unit")),
    Row("local_response_norm", "F.local_response_norm(x, size, alpha, beta, k)",
        grid=each(size=[3, 2, 5], alpha=[1e-4, 0.5], beta=[0.75, 0.5], k=[1.0, 2.0]),
        inputs=("1x6x3x3", "1x6x4")),
    Row("weight_norm", "m(x)",
        layer="nn.utils.parametrizations.weight_norm(nn.Linear(3, 4), dim={dim})",
        grid=product(dim=[0, 1]), inputs=("2x3",)),
    Row("weight_norm", "m(x)",
        layer="nn.utils.weight_norm(nn.Conv1d(3, 4, 2), dim={dim})", grid=product(dim=[0, 1, 2]),
        inputs=("1x3x5",)),
    Row("dropout", "m(x)", layer="nn.{name}(0.5)",
        grid=product(name=["Dropout", "AlphaDropout", "Dropout2d"]), inputs=("1x3x4x4",)),
)

SCALES = [2, 0.5, 1.5, 2.5, 0.4, 1.3, 3, 0.75]
RESAMPLING = (
    *(Row("interpolate", "F.interpolate(x, scale_factor=scale, mode=mode, align_corners=corners)",
          grid=product(scale=SCALES, mode=[mode], corners=corners)
          + (product(scale=[(2, 1.5), (0.5, 2)], mode=[mode], corners=corners)
             if rank == 2 else ()), inputs=(shape,))
      for rank, shape, mode, corners in (
          (1, "1x2x7", "linear", [False, True]), (1, "1x2x7", "nearest", [None]),
          (2, "1x2x5x7", "bilinear", [False, True]), (2, "1x2x5x7", "nearest", [None]),
          (2, "1x2x5x7", "bicubic", [False, True]), (1, "1x2x7", "nearest-exact", [None]),
          (2, "1x2x5x7", "nearest-exact", [None]), (2, "1x2x5x7", "area", [None]))),
    *(Row("interpolate", "F.interpolate(x, size, mode=mode, align_corners=corners)",
          grid=product(size=sizes, mode=[mode], corners=corners), inputs=(shape,))
      for shape, mode, corners, sizes in (
          ("1x2x7", "linear", [False, True], [14, 3, 10, 7, 1]),
          ("1x2x7", "nearest", [None], [14, 3, 10, 1]),
          ("1x2x5x7", "bilinear", [False, True], [(10, 14), (3, 4), (8, 7), (1, 1), (7, 16)]),
          ("1x2x5x7", "nearest", [None], [(10, 14), (3, 4), (8, 7), (7, 16)]),
          ("1x2x5x7", "nearest-exact", [None], [(10, 14), (3, 4), (8, 10)]),
          ("1x2x5x7", "bicubic", [False, True], [(10, 14), (3, 4), (8, 7)]),
          ("1x2x5x7", "area", [None], [(3, 4), (1, 1), (10, 14)]),
          ("1x1x3x4x5", "trilinear", [False, True], [(6, 8, 10), (2, 3, 7)]),
          ("1x1x3x4x5", "nearest", [None], [(6, 8, 10), (2, 3, 7)]))),
    Row("interpolate", "F.interpolate(x, scale_factor=scale, mode=mode, align_corners=corners, "
        "recompute_scale_factor=True)",
        grid=product(scale=[1.5, 0.4, 2.3], mode=["bilinear"], corners=[False, True])
        + product(scale=[1.5, 0.4], mode=["nearest"], corners=[None]), inputs=("1x2x5x7",)),
    Row("interpolate", "F.interpolate(x, scale_factor=scale, mode=mode, align_corners=corners)",
        grid=product(scale=[1.5, 2], mode=["trilinear"], corners=[False, True])
        + product(scale=[1.5, 2], mode=["nearest"], corners=[None]), inputs=("1x1x3x4x5",)),
    Row("interpolate", "F.interpolate(x, size, mode=mode, antialias=True)",
        grid=product(size=[(10, 14), (3, 4), (2, 7)], mode=["bilinear", "bicubic"]),
        inputs=("1x2x5x7",)),
    Row("upsample", "m(x)", layer="nn.Upsample(scale_factor={scale}, mode='{mode}')",
        grid=product(scale=[2, 1.5], mode=["nearest", "bilinear"]), inputs=("1x2x5x4",)),
    Row("grid_sample", "F.grid_sample(x, y, mode, padding, corners)",
        grid=product(mode=["bilinear", "nearest", "bicubic"],
                     padding=["zeros", "border", "reflection"], corners=[False, True]),
        inputs=("1x2x4x5 1x3x3x2:unit", "2x1x4x5 2x3x2x2", "1x2x4x4 1x3x3x2:wide")),
    Row("grid_sample", "F.grid_sample(x, y, 'bilinear', padding, corners)",
        grid=product(padding=["zeros", "border"], corners=[False, True]),
        inputs=("1x1x3x3x3 1x2x2x2x3:unit",)),
    Row("affine_grid", "F.affine_grid(x, (1, 2, 4, 5), align_corners=corners)",
        grid=product(corners=[False, True]), inputs=("1x2x3",)),
    Row("affine_grid", "F.grid_sample(y, F.affine_grid(x, (1, 2, 4, 5), align_corners=corners), "
        "align_corners=corners)", grid=product(corners=[False, True]),
        inputs=("1x2x3:unit 1x2x4x5",)),
    Row("fold", "F.fold(x, (4, 5), kernel, dilation, padding, stride)",
        grid=each(kernel=[2], dilation=[1], padding=[0], stride=[1]), inputs=("1x8x12",)),
    Row("fold", "F.fold(x, (4, 6), 2, 1, 0, 2)", inputs=("1x8x6",)),
    Row("fold", "F.fold(x, (4, 4), 2, 1, 1, 2)", inputs=("1x8x9",)),
    Row("fold", "F.fold(x, (5, 5), 2, 2, 0, 1)", inputs=("1x8x9",)),
    Row("unfold", "F.unfold(x, kernel, dilation, padding, stride)",
        grid=each(kernel=[2, 3, (2, 3)], dilation=[1, 2], padding=[0, 1, (1, 0)],
                  stride=[1, 2, (2, 1)])
        + product(kernel=[3], dilation=[2], padding=[2, 1], stride=[2, 1]),
        inputs=("1x2x5x6", "2x3x6x5")),
)

ATTENTION = (
    Row("attention", "F.scaled_dot_product_attention(x, y, z, is_causal=causal, scale=scale)",
        grid=product(causal=[False, True], scale=[None, 0.3, 1.0, 2]),
        inputs=("1x2x4x8 1x2x4x8 1x2x4x8", "2x4x8 2x4x8 2x4x8")),
    Row("attention", "F.scaled_dot_product_attention(x, y, z, is_causal=causal)",
        grid=product(causal=[False, True]),
        inputs=("1x2x4x8 1x2x6x8 1x2x6x5", "1x2x6x8 1x2x4x8 1x2x4x8", "4x8 4x8 4x8",
                "1x1x2x4x8 1x1x2x4x8 1x1x2x4x8")),
    Row("attention", "F.scaled_dot_product_attention(x, y, z, w, scale=scale)",
        grid=product(scale=[None, 0.5]),
        inputs=("1x2x4x8 1x2x4x8 1x2x4x8 4x4", "1x2x3x8 1x2x5x8 1x2x5x8 3x5!",
                "1x2x4x8 1x2x4x8 1x2x4x8 1x1x4x4", "2x4x8 2x4x8 2x4x8 4x4")),
    Row("attention", "F.scaled_dot_product_attention(x, y, z, w | torch.eye(4, dtype=torch.bool))",
        inputs=("1x2x4x8 1x2x4x8 1x2x4x8 4x4:bool", "1x2x4x8 1x2x4x8 1x2x4x8 4x4:bool!",
                "1x2x4x8 1x2x4x8 1x2x4x8 1x1x4x4:bool")),
    Row("attention", "F.scaled_dot_product_attention(x, y, z, torch.ones(4, 4).tril().bool())",
        inputs=("1x2x4x8 1x2x4x8 1x2x4x8",)),
    Row("attention", "F.scaled_dot_product_attention(x, y, z, enable_gqa=True)",
        inputs=("1x4x4x8 1x2x4x8 1x2x4x8",)),
    Row("multihead", "m(x, x, x)[index]",
        layer="nn.MultiheadAttention(8, 2, bias={bias}, batch_first={first}, "
              "add_zero_attn={zero})",
        grid=each(bias=[True, False], first=[True, False], zero=[False, True], index=[0, 1]),
        inputs=("2x4x8",)),
    Row("multihead", "m(x, x, x, attn_mask=y)[0]",
        layer="nn.MultiheadAttention(8, 2, batch_first=True)", inputs=("2x4x8 4x4",)),
    Row("multihead", "m(x, x, x, key_padding_mask=y)[0]",
        layer="nn.MultiheadAttention(8, 2, batch_first=True)", inputs=("2x4x8 2x4:false",)),
    Row("encoder_layer", "m(x)",
        layer="nn.TransformerEncoderLayer(8, 2, 16, activation='{act}', norm_first={first}, "
              "batch_first={batch})",
        grid=each(act=["relu", "gelu"], first=[False, True], batch=[True, False]),
        inputs=("2x4x8",)),
    Row("decoder_layer", "m(x, y)",
        layer="nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)",
        inputs=("2x4x8 2x5x8",)),
)


def recurrent(name, more=""):
    extra = "" if name == "GRU" else more
    return Row(
        name.lower(), "outputs(m(x))[index]",
        layer=f"nn.{name}(3, 4, num_layers={{layers}}, bias={{bias}}, batch_first={{first}}, "
              f"bidirectional={{both}}{extra})",
        grid=each(layers=[1, 2], bias=[True, False], first=[False, True], both=[False, True],
                  index=[0, 1] + ([2] if name == "LSTM" else []))
        + product(layers=[2], bias=[True], first=[True], both=[True], index=[0, 1]),
        inputs=("5x2x3", "5x3"))


RECURRENCE = (
    recurrent("LSTM"), recurrent("GRU"), recurrent("RNN"),
    recurrent("RNN", ", nonlinearity='relu'"),
    Row("lstm", "outputs(m(x))[index]", layer="nn.LSTM(3, 4, proj_size={size}, "
        "bidirectional={both})", grid=product(size=[2], both=[False, True], index=[0, 1, 2]),
        inputs=("5x2x3",)),
    Row("lstm", "outputs(m(x, (y, z)))[index]", layer="nn.LSTM(3, 4, num_layers={layers})",
        grid=product(layers=[1, 2], index=[0, 1, 2])[:3], inputs=("5x2x3 1x2x4 1x2x4",)),
    Row("lstm", "outputs(m(x, (y, z)))[index]", layer="nn.LSTM(3, 4, bidirectional=True)",
        grid=product(index=[0, 1, 2]), inputs=("5x2x3 2x2x4 2x2x4",)),
    Row("gru", "outputs(m(x, y))[index]", layer="nn.GRU(3, 4, batch_first={first})",
        grid=product(first=[False, True], index=[0, 1]), inputs=("2x2x3 1x2x4",)),
    Row("rnn", "outputs(m(x, y))[index]", layer="nn.RNN(3, 4)", grid=product(index=[0, 1]),
        inputs=("5x2x3 1x2x4",)),
    *(Row(f"{name.lower()}_cell", "outputs(m(x))[0]", layer=f"nn.{name}Cell(3, 4)",
          inputs=("2x3",)) for name in ("LSTM", "GRU", "RNN")),
)

LOSSES = (
    Row("cross_entropy", "F.cross_entropy(x, y, reduction=reduction, label_smoothing=smoothing)",
        grid=each(reduction=["mean", "sum", "none"], smoothing=[0.0, 0.1]),
        inputs=("3x4 3:index4", "2x4x3 2x3:index4")),
    Row("nll_loss", "F.nll_loss(x, y, reduction=reduction)",
        grid=product(reduction=["mean", "sum", "none"]), inputs=("3x4 3:index4",)),
    Row("nll_loss", "F.nll_loss(x, y, ignore_index=ignored)", grid=product(ignored=[-100, 1]),
        inputs=("3x4 3:index4",)),
    Row("nll_loss", "F.nll_loss(x, y, z, reduction=reduction)",
        grid=product(reduction=["mean", "sum", "none"]), inputs=("3x4 3:index4 4:positive!",)),
    Row("bce", "F.binary_cross_entropy_with_logits(x, y)", inputs=("2x3 2x3:share",)),
    Row("bce", "F.binary_cross_entropy(x, y)", inputs=("2x3:share 2x3:share",)),
    Row("kl_div", "F.kl_div(x, y, reduction='batchmean')", inputs=("2x3 2x3:share",)),
)

ROWS = (
    *(convolutions(rank) for rank in (1, 2, 3)), *(transposed(rank) for rank in (1, 2, 3)),
    Row("conv2d", "F.conv2d(x, y, z, stride, padding)",
        grid=product(stride=[1, 2], padding=[0, 1, "same"])[:5],
        inputs=("1x3x5x5 4x3x3x3 4!", "1x3x5x5 4x3x3x3! 4!")),
    Row("conv2d", "m(x)", layer="nn.Conv2d(3, 4, 3)", inputs=("3x5x5",)),
    Row("conv1d", "m(x)", layer="nn.Conv1d(3, 4, 3)", inputs=("3x5",)),
    Row("conv_transpose2d", "F.conv_transpose2d(x, y, stride=2, output_padding=1)",
        inputs=("1x3x4x4 3x2x3x3", "1x3x4x4 3x2x3x3!")),
    *POOLS, *PADS, *NORMALIZATION, *RESAMPLING, *ATTENTION, *RECURRENCE, *LOSSES,
)
