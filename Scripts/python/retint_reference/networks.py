"""The architectures by name: `factory("lite-unet")` returns the class of a network.

The classes are also attributes of this module, named with underscores, as in
`export_pytorch.py --module retint_reference.networks:lite_unet`.
"""

import importlib

# Imported when needed: not all need the same packages.
ARCHITECTURES = {
    "eccv16": "published:ECCV16",
    "siggraph17": "published:SIGGRAPH17",
    "lite-unet": "lite_unet:LiteUNet",
    "lite-class-unet": "lite_unet:LiteClassUNet",
    "mobile-unet": "mobile_unet:MobileUNet",
    "pico-unet": "students:PicoUNet",
    "rep-unet": "students:RepUNet",
    "class-unet": "students:ClassUNet",
}


# Networks that are not architectures of retint.
OTHERS = {"mobilenetv2-unet": "mobilenet:MobileNetV2UNet"}


def factory(architecture):
    """The class that makes a network of that architecture."""
    module, name = (ARCHITECTURES | OTHERS)[architecture].split(":")
    return getattr(importlib.import_module(f".{module}", __package__), name)


def __getattr__(name):
    architecture = name.replace("_", "-")
    if architecture not in ARCHITECTURES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return factory(architecture)
