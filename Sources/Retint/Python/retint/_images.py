"""Pillow's images as models take them."""

from __future__ import annotations

import typing
import warnings

from retint import _errors


def is_image(value: object) -> bool:
    """Whether a value is an image of Pillow, which need not be installed."""
    return type(value).__module__.startswith("PIL.") and hasattr(value, "getbands")


def values(images: typing.Mapping[str, object],
           interface: typing.Mapping[str, typing.Any]) -> dict[str, object]:
    """Inputs by name, with arrays, [1, C, H, W], in place of Pillow's images.

    An input that is an image gets pixels of 0 to 255, with blue first where it takes them so; a
    tensor gets 0 to 1, as of torchvision's ``to_tensor``.
    """
    inputs = {value["name"]: value for value in interface["inputs"]}
    return {name: _array(value, inputs[name]) if name in inputs and is_image(value) else value
            for name, value in images.items()}


def _array(image: typing.Any, value: typing.Mapping[str, typing.Any]) -> typing.Any:
    import numpy

    name, layout = value["name"], value.get("color_layout")
    if value["role"] == "lightness":
        raise _errors.UsageError(
            f"input {name} takes lightness, not a photo: pass L of 0 to 100, [1, 1, H, W], or "
            "color photos with retint.colorize", status=64)
    shape = value["shapes"].get("standard") or []
    channels = {"grayscale": 1, "rgb": 3, "bgr": 3}.get(layout or "") or (
        shape[1] if len(shape) == 4 else None)
    mode = {1: "L", 3: "RGB", 4: "RGBA"}.get(channels or 0)
    if mode is None:
        raise _errors.UsageError(
            f"input {name} takes {shape or 'another shape'}, not an image; pass an array",
            status=64)
    if image.mode != mode:
        if "A" in image.getbands() and mode != "RGBA":
            warnings.warn(f"the transparency of the image for {name} is left out", stacklevel=4)
        image = image.convert(mode)
    pixels = numpy.asarray(image)
    pixels = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
    if layout == "bgr":
        pixels = pixels[::-1]
    pixels = numpy.ascontiguousarray(pixels[None], dtype="float32")
    return pixels if layout else pixels / 255
