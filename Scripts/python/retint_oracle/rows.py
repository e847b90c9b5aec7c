"""Rows of the tables: an operation of PyTorch, values of its parameters, and its inputs."""

import dataclasses
import itertools


@dataclasses.dataclass(frozen=True)
class Row:
    """An operation, as an expression of the inputs x, y, z, w and of parameters.

    With a `layer`, an expression that makes a module, `call` may use it as m.
    """

    operation: str
    call: str
    _: dataclasses.KW_ONLY
    # Each text gives shapes and kinds of values for x, y, z and w: see `values`.
    inputs: tuple = ("2x3x4",)
    # Dictionaries of parameters.
    grid: tuple = ({},)
    layer: str | None = None
    # Whether one more case has constants in place of its inputs, which converters compute.
    folds: bool = True


def product(**lists):
    """All combinations of the values of parameters."""
    return tuple(dict(zip(lists, values)) for values in itertools.product(*lists.values()))


def each(_defaults=None, **lists):
    """The defaults, and each other value of one parameter alone."""
    defaults = _defaults or {name: values[0] for name, values in lists.items()}
    rows = [defaults]
    for name, values in lists.items():
        rows += [defaults | {name: value} for value in values if value != defaults.get(name)]
    return tuple(rows)


def unary(names, *inputs, call="torch.{}(x)"):
    return tuple(Row(name, call.format(name), inputs=inputs) for name in names.split())
