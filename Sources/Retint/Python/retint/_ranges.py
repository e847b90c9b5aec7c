"""The ranges in which networks take photos."""

from __future__ import annotations

import typing

from retint import _errors

# Of red, green and blue in 0..1, as in torchvision.
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def converted(pixels: typing.Any, layout: str, span: object) -> typing.Any:
    """Pixels of 0 to 255, [N, C, H, W], in another range, in the same order of channels.

    :param layout: of the channels: ``rgb``, ``bgr`` or ``grayscale``.
    :param span: ``"0..1"`` or another pair of bounds, or ``"imagenet"``.
    """
    import numpy

    values = numpy.asarray(pixels, dtype="float32") / 255
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
