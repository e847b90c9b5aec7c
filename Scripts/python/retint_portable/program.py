"""Calls of kernels and the memory that they work on, as driver.c takes them."""

import dataclasses
import typing

import numpy

FLOAT32, FLOAT16, BFLOAT16 = range(3)
NULL = -1
# NaN, so that what is read beside an array spoils a result; far more than a vector.
GUARD = numpy.full(64, 0x7FC0A5A5, numpy.uint32).tobytes()
# Half a unit in the last place of 1.
ROUNDING = 2.0 ** -24


@dataclasses.dataclass(frozen=True)
class Array:
    """A part of the memory."""

    offset: int
    dtype: numpy.dtype
    shape: tuple

    def at(self, index):
        """The place of an element, counted in memory's order."""
        return self.offset + index * self.dtype.itemsize

    @property
    def end(self):
        return self.at(int(numpy.prod(self.shape)))

    def read(self, memory):
        return memory[self.offset:self.end].view(self.dtype).reshape(self.shape)


@dataclasses.dataclass(frozen=True)
class Result:
    """What calls leave in an array.

    `truth` are the right values, if they are known otherwise than from a kernel. `bound` says how
    far values may be from others; without one, they are the same bit by bit, but that any NaN is
    like another. `needs` is the 16-bit format whose products were computed, `decode` takes the
    values out of the array.
    """

    name: str
    array: Array
    truth: numpy.ndarray | None
    bound: typing.Callable | None
    decode: typing.Callable
    needs: int

    def read(self, memory):
        return self.decode(self.array.read(memory))


def sums(terms, scale=None):
    """The bound for sums of so many products: rounding errors add up like a random walk.

    Each error is in proportion to the sum, which is as large as `scale`, the largest result.
    """
    def bound(values):
        finite = values[numpy.isfinite(values)]
        largest = numpy.abs(finite).max(initial=0) if scale is None else scale
        return 4 * ROUNDING * numpy.sqrt(terms) * largest
    return bound


def each(relative, absolute=0.0):
    """The bound for values that are computed one by one."""
    return lambda values: relative * numpy.abs(values) + absolute


class Program:
    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.parts, self.size = [GUARD], len(GUARD)
        self.calls, self.results, self.written = [], [], set()

    # Memory

    def array(self, values):
        """An array with these values. The memory begins at a multiple of 64, and arrays do at one
        of their elements only."""
        values = numpy.ascontiguousarray(values)
        self.append(GUARD[:-self.size % values.dtype.itemsize])
        array = Array(self.size, values.dtype, values.shape)
        self.append(values.tobytes())
        self.append(GUARD[:-self.size % 4])
        # Guards of different lengths: few arrays begin at a multiple of a vector.
        self.append(GUARD[4 * (len(self.calls) % 5):])
        return array

    def append(self, part):
        self.parts.append(part)
        self.size += len(part)

    def empty(self, *shape, dtype=numpy.float32):
        """An array for results, which is full of NaN."""
        values = numpy.empty(shape, dtype)
        size = values.nbytes
        values.reshape(-1).view(numpy.uint8)[:] = numpy.resize(
            numpy.frombuffer(GUARD, numpy.uint8), size)
        array = self.array(values)
        self.written.add(array)
        return array

    def memory(self):
        return numpy.frombuffer(b"".join(self.parts), numpy.uint8)

    def floats(self, *shape, low=-1.0, high=1.0):
        return self.random.uniform(low, high, shape).astype(numpy.float32)

    def integers(self, *numbers):
        """An array of C's int, such as a structure of them."""
        return self.array(numpy.array(numbers, numpy.int32))

    def tail(self, scale=NULL, bias=NULL, factor=1.0, low=-numpy.inf, high=numpy.inf):
        places = [place.offset if isinstance(place, Array) else place for place in (scale, bias)]
        return self.array(numpy.array([*places, factor, low, high], numpy.float64))

    # Calls

    def call(self, name, *arguments, needs=FLOAT32):
        words = [argument.offset if isinstance(argument, Array) else argument
                 for argument in arguments]
        self.calls.append((needs, name, *words))

    def called(self):
        return {call[1] for call in self.calls}

    def text(self):
        return "".join(f"{' '.join(map(word, call))}\n" for call in self.calls)

    def result(self, name, array, truth=None, bound=None, part=..., needs=FLOAT32, decode=None):
        self.written.add(array)
        decode = decode or (lambda values: values[part])
        self.results.append(Result(name, array, truth, bound, decode, needs))


def word(value):
    return value if isinstance(value, str) else repr(float(value))
