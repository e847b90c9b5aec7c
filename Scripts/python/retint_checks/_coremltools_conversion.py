"""Converts networks with the installed coremltools, and compresses their weights in every way."""

import functools
import logging
import warnings

import numpy as np
import torch
import tqdm

from ._coremltools_networks import SIZE

# coremltools warns about each part that only works on a Mac, and shows a bar for each pass.
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
tqdm.tqdm.__init__ = functools.partialmethod(tqdm.tqdm.__init__, disable=True)
import coremltools as ct  # noqa: E402
import coremltools.optimize.coreml as cto  # noqa: E402

VERSION = int(ct.__version__.split(".")[0])
TARGETS = {
    name: getattr(ct.target, name) for name in ("iOS15", "iOS16", "iOS17", "iOS18")
    if hasattr(ct.target, name)
}
PRECISIONS = {"float32": ct.precision.FLOAT32, "float16": ct.precision.FLOAT16}
FRONTENDS = ["trace", "export"]


def captured(module, example, frontend):
    if frontend == "trace":
        with torch.no_grad():
            return torch.jit.trace(module, example)
    return torch.export.export(module, (example,)).run_decompositions({})


def convert(source, target, precision, frontend="trace", image=False, flexible=None):
    shape = (1, 1, SIZE, SIZE)
    options = {"outputs": [ct.TensorType(name="ab")]}
    if image:
        options["inputs"] = [
            ct.ImageType(
                name="lightness", shape=shape, scale=100 / 255,
                color_layout=ct.colorlayout.GRAYSCALE,
            )
        ]
    elif frontend == "trace":
        options["inputs"] = [ct.TensorType(name="lightness", shape=flexible or shape)]
    return ct.convert(
        source, convert_to="mlprogram", minimum_deployment_target=TARGETS[target],
        compute_precision=PRECISIONS[precision], skip_model_load=True, **options,
    )


def quantizer(threshold, mode, dtype, **options):
    def compress(model):
        config = cto.OpLinearQuantizerConfig(
            mode=mode, dtype=dtype if VERSION > 7 else np.dtype(dtype).type,
            weight_threshold=threshold, **options,
        )
        return cto.linear_quantize_weights(
            model, cto.OptimizationConfig(global_config=config), **joint(model)
        )

    return compress


def palettizer(threshold, mode, bits, **options):
    def compress(model):
        config = cto.OpPalettizerConfig(
            mode=mode, nbits=bits, weight_threshold=threshold, **options
        )
        return cto.palettize_weights(
            model, cto.OptimizationConfig(global_config=config), **joint(model)
        )

    return compress


def pruner(threshold, sparsity):
    def compress(model):
        config = cto.OpMagnitudePrunerConfig(target_sparsity=sparsity, weight_threshold=threshold)
        return cto.prune_weights(model, cto.OptimizationConfig(global_config=config))

    return compress


def both(first, second):
    return lambda model: second(first(model))


def joint(model):
    """The option that lets a second compression build on the first."""
    main = model.get_spec().mlProgram.functions["main"]
    kinds = [
        operation.type for operation in main.block_specializations[main.opset].operations
    ]
    return {"joint_compression": True} if any(k.startswith("constexpr_") for k in kinds) else {}


def schemes(target, threshold=64):
    """Compressions that a target supports, by name, for weights of `threshold` elements or more."""
    linear, palette, pruned = (
        functools.partial(kind, threshold) for kind in (quantizer, palettizer, pruner)
    )
    table = {
        "int8": linear("linear_symmetric", "int8"),
        "int8-linear": linear("linear", "int8"),
        "uint8-linear": linear("linear", "uint8"),
        "sparse": pruned(0.6),
    }
    for bits in (1, 2, 4, 6, 8):
        table[f"palette{bits}-uniform"] = palette("uniform", bits)
        table[f"palette{bits}-kmeans"] = palette("kmeans", bits)
    if VERSION > 7:
        table["uint8-per-tensor"] = linear("linear", "uint8", granularity="per_tensor")
    if target != "iOS18":
        return table
    table.update(
        {
            "int4": linear("linear_symmetric", "int4"),
            "uint4-linear": linear("linear", "uint4", granularity="per_tensor"),
            "int4-block": linear(
                "linear_symmetric", "int4", granularity="per_block", block_size=8
            ),
            "int8-block": linear("linear", "int8", granularity="per_block", block_size=16),
            "palette3": palette("kmeans", 3),
            "palette4-grouped": palette(
                "kmeans", 4, granularity="per_grouped_channel", group_size=8
            ),
            "palette4-grouped-inputs": palette(
                "kmeans", 4, granularity="per_grouped_channel", group_size=8, channel_axis=1
            ),
            "palette6-scaled": palette("kmeans", 6, enable_per_channel_scale=True),
            "palette2-vectors": palette("kmeans", 2, cluster_dim=4),
            "palette4-int8-table": both(
                palette("kmeans", 4),
                linear("linear_symmetric", "int8", granularity="per_tensor"),
            ),
            "sparse-palette4": both(pruned(0.6), palette("kmeans", 4)),
            "sparse-palette2-vectors": both(pruned(0.6), palette("kmeans", 2, cluster_dim=4)),
            "sparse-int8": both(pruned(0.6), linear("linear_symmetric", "int8")),
            "sparse-int4": both(pruned(0.6), linear("linear_symmetric", "int4")),
        }
    )
    return table
