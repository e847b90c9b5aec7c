"""Uses Python's module of an installed wheel, in a Python without other packages.

    python try_module.py
"""

import array
import tempfile

import retint


class Lightness:
    """An array as other libraries pass them."""

    def __init__(self, side):
        self.values = array.array("f", (index % 100 for index in range(side * side)))
        self.__array_interface__ = {
            "version": 3, "typestr": "<f4", "shape": (1, 1, side, side), "strides": None,
            "data": (self.values.buffer_info()[0], False)}


checkpoint = retint.checkpoint_path("lite-class-unet-small")
assert retint.inspect(checkpoint)["architecture"] == "lite-class-unet"
with tempfile.TemporaryDirectory() as folder:
    package = retint.export(checkpoint, f"{folder}/small.mlpackage", size=64)
    retint.verify(package, checkpoint, size=64).raise_if_failed()
    with retint.load(checkpoint) as model, retint.load(package) as other:
        colors = [loaded.run(Lightness(64))["ab"] for loaded in (model, other)]
assert colors[0].shape == (1, 2, 64, 64), colors[0].shape
first, second = (values.tolist()[0] for values in colors)
worst = max(abs(a - b) for pair in zip(first, second) for rows in zip(*pair)
            for a, b in zip(*rows))
assert worst < 0.01, worst
try:
    retint.load("/nowhere.mlpackage")
except retint.InputError as error:
    assert error.file == "/nowhere.mlpackage", error.file
else:
    raise AssertionError("a missing package was loaded")
print("  the module loads, exports, verifies and runs")
