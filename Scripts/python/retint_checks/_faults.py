"""Plants faults in packages: one change of one operation, such as a wrong converter makes."""

import pathlib
import shutil
import struct

import numpy as np
from coremltools.proto import Model_pb2

MODEL = "Data/com.apple.CoreML/model.mlmodel"
WEIGHTS = "Data/com.apple.CoreML/weights/weight.bin"
# Where a blob's description keeps the position of its data.
POSITION = 16


class Package:
    """The program of a package, to be changed and written."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.model = Model_pb2.Model()
        self.model.ParseFromString((self.path / MODEL).read_bytes())
        file = self.path / WEIGHTS
        self.blobs = bytearray(file.read_bytes()) if file.exists() else bytearray()
        [block] = self.function().block_specializations.values()
        self.operations = list(block.operations)
        self.makers = {
            output.name: operation for operation in self.operations
            for output in operation.outputs}

    def function(self):
        return self.model.mlProgram.functions["main"]

    def own(self, operation, name):
        """The constant that an argument of an operation names, as one of its own, or None.

        Operations share constants such as an epsilon.
        """
        value = self.value(operation, name)
        if value is not None:
            argument = operation.inputs[name].arguments[0]
            if argument.WhichOneof("binding") == "name":
                argument.value.CopyFrom(value)
            return argument.value
        return None

    def value(self, operation, name):
        """The constant that an argument of an operation names, or None."""
        for argument in operation.inputs[name].arguments if name in operation.inputs else ():
            if argument.WhichOneof("binding") == "value":
                return argument.value
            maker = self.makers.get(argument.name)
            if maker is not None and maker.type == "const":
                return maker.attributes["val"]
        return None

    def floats(self, value):
        """A float32 constant as a writable array, and a function that stores it; or None."""
        shape = [d.constant.size for d in value.type.tensorType.dimensions]
        if value.HasField("blobFileValue"):
            start, = struct.unpack_from(
                "<Q", self.blobs, value.blobFileValue.offset + POSITION)
            count = int(np.prod(shape))
            array = np.frombuffer(self.blobs, np.float32, count, start).reshape(shape).copy()

            def store(changed):
                raw = np.ascontiguousarray(changed, np.float32).tobytes()
                self.blobs[start:start + len(raw)] = raw

            return array, store
        numbers = value.immediateValue.tensor.floats.values
        if not numbers:
            return None

        def store_here(changed):
            numbers[:] = np.asarray(changed, np.float32).ravel().tolist()

        return np.array(numbers, np.float32).reshape(shape), store_here

    def write(self, path):
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.path, path)
        (path / MODEL).write_bytes(self.model.SerializeToString())
        if self.blobs:
            (path / WEIGHTS).write_bytes(self.blobs)


def _weights(package, operation):
    value = package.value(operation, "weight")
    if value is None or value.type.tensorType.dataType != 11:
        return None
    return package.floats(value)


def weight(package, operation, random):
    """One weight is off by a thousandth of the range of all."""
    found = _weights(package, operation)
    if found is None:
        return False
    array, store = found
    index = random.randrange(array.size)
    array.ravel()[index] += np.float32(1e-3 * (array.max() - array.min()))
    store(array)
    return True


def transposed(package, operation, random):
    """The kernel's rows are its columns."""
    found = _weights(package, operation)
    if found is None or found[0].ndim != 4:
        return False
    array, store = found
    if array.shape[2] != array.shape[3] or array.shape[2] == 1:
        return False
    store(array.swapaxes(2, 3))
    return True


def swapped(package, operation, random):
    """Two channels of the input are swapped."""
    found = _weights(package, operation)
    if found is None or found[0].ndim < 2 or found[0].shape[1] < 2:
        return False
    array, store = found
    first, second = random.sample(range(array.shape[1]), 2)
    array[:, [first, second]] = array[:, [second, first]]
    store(array)
    return True


def _scale(package, operation, name, factor):
    value = package.own(operation, name)
    numbers = value and value.immediateValue.tensor.floats.values
    if not numbers or numbers[0] == 0:
        return False
    numbers[:] = [number * factor for number in numbers]
    return True


def epsilon(package, operation, random):
    """The epsilon of a normalization is another one in use: a hundred times as large."""
    return _scale(package, operation, "epsilon", 100)


def alpha(package, operation, random):
    """The slope of an activation is dropped."""
    return _scale(package, operation, "alpha", 0)


def pad(package, operation, random):
    """The padding lies one row too far down."""
    value = package.own(operation, "pad")
    numbers = value and value.immediateValue.tensor.ints.values
    if operation.type not in ("conv", "max_pool") or not numbers or len(numbers) < 4:
        return False
    if numbers[0] < 1:
        return False
    numbers[0] -= 1
    numbers[1] += 1
    return True


def align_corners(package, operation, random):
    """Corners are aligned where they should not be, or the reverse."""
    value = package.own(operation, "align_corners")
    flags = value and value.immediateValue.tensor.bools.values
    if not flags:
        return False
    flags[0] = not flags[0]
    return True


FAULTS = (weight, transposed, swapped, epsilon, alpha, pad, align_corners)


def plant(source, fault, random, path):
    """Writes a copy of a package with one fault; returns the faulty operation's output.

    None if the fault fits none of its operations.
    """
    package = Package(source)
    operations = list(package.operations)
    random.shuffle(operations)
    for operation in operations:
        if operation.type != "const" and fault(package, operation, random):
            package.write(path)
            return operation.outputs[0].name
    return None
