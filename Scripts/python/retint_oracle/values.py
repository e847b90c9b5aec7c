"""Seeded values of inputs, by a text: a shape, and after a colon the kind of its values.

    2x3x4       normally distributed multiples of 1/64, which float16 represents
    0d:positive a tensor without axes
    5:index4    integers of 0..<4
    3:order4    integers of 0..<4, all of them different
    2x3:int!    a constant of the module instead of an input
"""

import dataclasses
import math
import zlib

import torch


@dataclasses.dataclass(frozen=True)
class Spec:
    shape: tuple
    kind: str
    is_constant: bool

    @classmethod
    def parse(cls, text):
        is_constant = text.endswith("!")
        shape, _, kind = text.rstrip("!").partition(":")
        dimensions = () if shape == "0d" else tuple(int(size) for size in shape.split("x"))
        return cls(dimensions, kind or "normal", is_constant)

    @property
    def count(self):
        return math.prod(self.shape)

    def typed(self, values):
        """The values as the operation gets them, from what a file gets: float32 or int32."""
        values = values.reshape(self.shape) if self.shape == () else values
        name = self.kind.rstrip("0123456789")
        if name in ("bool", "true", "false"):
            return values > 0.5
        if name in ("index", "order", "long", "signed"):
            return values.long()
        if name == "half":
            return values.half()
        if name == "double":
            return values.double()
        if name in ("special", "infinite"):
            return decoded(values)
        return values

    def values(self, name):
        """The values of the file's input, the same for the same name."""
        random = torch.Generator().manual_seed(zlib.crc32(name.encode()))
        kind = self.kind.rstrip("0123456789")
        number = self.kind[len(kind):]
        if kind == "order":
            return orders(self.shape, int(number), random)
        values = KINDS[kind](self.count, random, *([int(number)] if number else []))
        return values.reshape(self.shape or (1,))


def normal(count, random):
    return (torch.randn(count, generator=random) * 96).round() / 64


def uniform(low, high):
    def make(count, random):
        return (torch.rand(count, generator=random) * (high - low) * 64).round() / 64 + low
    return make


def distinct(count, random):
    """Values without two equal ones: negative and positive, in random order."""
    return (torch.randperm(count, generator=random) - count // 2 + 0.5) / 8


def large(count, random):
    """Values of ±4…±120, where exponentials overflow."""
    signs = torch.randint(0, 2, (count,), generator=random) * 2 - 1
    return signs * (4 + (torch.rand(count, generator=random) * 116).round())


def cycle(*listed):
    def make(count, random):
        return torch.tensor(listed, dtype=torch.float32).repeat(count // len(listed) + 1)[:count]
    return make


def integers(low, high, skips=None):
    def make(count, random, end=high):
        values = torch.randint(low, end, (count,), generator=random, dtype=torch.int32)
        return torch.where(values == skips, 3, values).int() if skips is not None else values
    return make


def signed(count, random, end):
    """Integers of -end..<end, as indices are."""
    return torch.randint(-end, end, (count,), generator=random, dtype=torch.int32)


def orders(shape, end, random):
    """Integers of 0..<end, no two equal ones along any axis that is not longer."""
    places = sum(torch.arange(size).reshape([-1] + [1] * (len(shape) - axis - 1))
                 for axis, size in enumerate(shape))
    return torch.randperm(end, generator=random)[places % end].int()


def bits(count, random):
    return torch.randint(0, 2, (count,), generator=random).float()


# Stand for infinities and NaN in files, whose inputs have to be finite.
INFINITY, NAN = 8192, 16384


def decoded(values):
    """Values with infinities and NaN, which come from division by 0 alone."""
    size = values.abs()
    is_number = (size < INFINITY).float()
    return values * (size < NAN).float() / is_number


KINDS = {
    "normal": normal, "half": normal, "double": normal, "distinct": distinct, "large": large,
    "positive": uniform(0.125, 4), "unit": uniform(-0.9375, 0.9375), "share": uniform(0, 1),
    "above": uniform(1, 5), "wide": uniform(-9, 9), "huge": uniform(-30000, 30000),
    "ties": cycle(0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.5, 0.25, -0.75),
    "signs": cycle(0, 1, -1, 2, -2, 0, 3, -3, 0.5, -0.5),
    "whole": cycle(7, -7, 3, -3, 6, -6, 1, -1, 5, -5, 2),
    "divisor": cycle(3, 3, -3, -3, 2, 2, -2, -2, 5, 4, -4),
    "equal": cycle(1, 3, 3, 2, 3, -1, 2, -1, 1),
    "special": cycle(0, INFINITY, -INFINITY, NAN, 1, -1, 0.5, -2.5),
    "infinite": cycle(0, INFINITY, -INFINITY, 1, -1, 0.5, -2.5),
    "int": integers(-7, 8), "nonzero": integers(-5, 6, skips=0), "natural": integers(0, 8),
    "long": integers(-7, 8), "index": integers(0, None), "signed": signed,
    "big": integers(-100000, 100000), "shift": integers(0, 5),
    "bool": bits, "true": lambda count, random: torch.ones(count),
    "false": lambda count, random: torch.zeros(count),
}
