"""The ranges in which networks take photos."""

from __future__ import annotations

import typing

from retint import _errors

# Of red, green and blue in 0..1, as in torchvision.
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Scaling(typing.NamedTuple):
    """How a colorizer's value follows from that of its package: value = bias + scale · x."""
    bias: typing.Any
    scale: typing.Any


#: Of retint's normalization "outside": (L - 50) / 100, a / 110 and b / 110.
_OUTSIDE = {"lightness": {"bias": [50], "scale": [100]}, "ab": {"bias": [0], "scale": [110]},
            "a": {"bias": [0], "scale": [110]}, "b": {"bias": [0], "scale": [110]}}


def scalings(interface: typing.Mapping[str, typing.Any],
             metadata: typing.Mapping[str, str]) -> dict[str, Scaling]:
    """Those of the tensors of lightness and colors that a package takes in another range.

    :param metadata: of an ONNX file, whose interface is that of lightness itself.
    """
    is_outside = metadata.get("retint.normalization") == "outside"
    found: dict[str, Scaling] = {}
    for value in interface["inputs"] + interface["outputs"]:
        scaling = _OUTSIDE.get(value.get("role") or "") if is_outside else value.get("scaling")
        if not scaling or value.get("color_layout"):
            continue
        if any(scaling["bias"]) or any(factor != 1 for factor in scaling["scale"]):
            bias, scale = (_numbers(scaling[key]).reshape(-1, 1, 1) for key in ("bias", "scale"))
            found[value["name"]] = Scaling(bias, scale)
    return found


def scaled(value: typing.Any, scaling: Scaling | None) -> typing.Any:
    """Lightness in 0…100, or a and b, of what a package takes or returns."""
    if scaling is None:
        return value
    return (_numbers(value) * scaling.scale + scaling.bias).astype("float32")


def unscaled(value: typing.Any, scaling: Scaling | None) -> typing.Any:
    """What a package takes or returns for lightness in 0…100, or a and b."""
    if scaling is None:
        return value
    return ((_numbers(value) - scaling.bias) / scaling.scale).astype("float32")


def _numbers(value: typing.Any) -> typing.Any:
    import numpy

    if hasattr(value, "detach"):
        value = value.detach().cpu()
    return numpy.asarray(value, dtype="float32")


def pixels(values: typing.Any, span: object) -> typing.Any:
    """The pixels, 0 to 255, of a result in a range of two bounds, such as ``"0..1"``."""
    try:
        lower, upper = (float(bound) for bound in str(span).split(".."))
    except ValueError:
        raise _errors.UsageError(
            f"output_range {span!r}: pass two bounds as in \"0..1\"", status=64) from None
    return ((_numbers(values) - lower) * (255 / (upper - lower))).astype("float32")


def converted(pixels: typing.Any, layout: str, span: object) -> typing.Any:
    """Pixels of 0 to 255, [N, C, H, W], in another range, in the same order of channels.

    :param layout: of the channels: ``rgb``, ``bgr`` or ``grayscale``.
    :param span: ``"0..1"`` or another pair of bounds, or ``"imagenet"``.
    """
    import numpy

    values = _numbers(pixels) / 255
    if span == "imagenet" and layout in ("rgb", "bgr"):
        mean, deviation = (
            numpy.array(channels[::-1] if layout == "bgr" else channels, dtype="float32")
            .reshape(3, 1, 1) for channels in (_MEAN, _DEVIATION))
        return (values - mean) / deviation
    try:
        lower, upper = (float(bound) for bound in str(span).split(".."))
    except ValueError:
        raise _errors.UsageError(
            f"range {span!r}: pass two bounds as in \"0..1\", or \"imagenet\" for an image of "
            "three channels", status=64) from None
    return (values * (upper - lower) + lower).astype("float32")
