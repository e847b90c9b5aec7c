"""The cases: each row of the tables with each set of parameters and each text of inputs."""

import dataclasses
import hashlib
import math
import zlib

import torch
from torch import nn
from torch.nn import functional

from . import elementwise, layers, reductions, shapes
from .rows import Row
from .values import Spec


@dataclasses.dataclass(frozen=True)
class Case:
    """One operation with its parameters and inputs."""

    row: Row
    parameters: dict
    inputs: str
    folded: bool = False

    @property
    def name(self):
        form = "=".join(part for part in (self.row.layer, self.row.call) if part)
        form = form.replace("torch.", "").replace("F.", "").replace("nn.", "")
        words = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        folded = " as constants" if self.folded else ""
        return f"{self.row.operation} | {form} | {words} | {self.inputs}{folded}"

    @property
    def key(self):
        """A name for files."""
        return f"{self.row.operation}-{hashlib.sha256(self.name.encode()).hexdigest()[:10]}"

    @property
    def specs(self):
        return tuple(Spec.parse(text) for text in self.inputs.split())

    def module(self):
        return Operation(self).eval()


class Operation(nn.Module):
    """A case as a module, whose output is one float32 tensor with axes."""

    def __init__(self, case):
        super().__init__()
        self.specs, self.parameters_, self.folded = case.specs, case.parameters, case.folded
        self.code = compile(case.row.call, case.row.call, "eval")
        torch.manual_seed(zlib.crc32(case.name.encode()))
        self.layer = None
        if case.row.layer:
            text = case.row.layer.format(**case.parameters)
            self.layer = eval(text, dict(NAMES))
            settle(self.layer)
        self.values = [spec.values(f"{case.inputs} {index}")
                       for index, spec in enumerate(self.specs)]
        for index, (spec, values) in enumerate(zip(self.specs, self.values)):
            if spec.is_constant or self.folded:
                self.register_buffer(f"constant{index}", values)

    @property
    def examples(self):
        """The values of the file's inputs."""
        if self.folded or all(spec.is_constant for spec in self.specs):
            return (torch.zeros(1),)
        return tuple(values for spec, values in zip(self.specs, self.values)
                     if not spec.is_constant)

    def forward(self, *given):
        left, operands = list(given), []
        for index, spec in enumerate(self.specs):
            constant = getattr(self, f"constant{index}", None)
            operands.append(spec.typed(left.pop(0) if constant is None else constant))
        names = dict(zip("xyzw", operands)) | self.parameters_ | NAMES | {"m": self.layer}
        result = eval(self.code, names)
        result = result if result.dtype == torch.float32 else result.float()
        if result.dim() == 0:
            result = result.reshape(1)
        return (result + left[0] if left else result,)


def settle(module):
    """Gives parameters and statistics values that float16 represents, none of them trivial."""
    for name, values in [*module.named_parameters(), *module.named_buffers()]:
        if not values.is_floating_point():
            continue
        with torch.no_grad():
            if name.endswith("running_var"):
                values.copy_((torch.rand(values.shape) * 96).round() / 64 + 0.5)
            elif values.numel() > 1 or not name.endswith("weight"):
                values.copy_((torch.randn(values.shape) * 32).round() / 64)


def inplace(x, name, *arguments):
    """Calls a method that changes a copy."""
    x = x.clone()
    getattr(x, name)(*arguments)
    return x


def assign(x, index, value):
    """A copy with other values at an index."""
    x = x.clone()
    x[index] = value
    return x


def outputs(result):
    """The output and the states of a recurrent layer, in a row."""
    output, states = result if isinstance(result[0], torch.Tensor) and len(result) == 2 else (
        result, ())
    if isinstance(output, torch.Tensor):
        return (output, *(states if isinstance(states, tuple) else (states,)))
    return output


NAMES = {"torch": torch, "nn": nn, "F": functional, "math": math, "inf": math.inf,
         "inplace": inplace, "assign": assign, "outputs": outputs}
ROWS = elementwise.ROWS + reductions.ROWS + shapes.ROWS + layers.ROWS


def all_cases():
    """All cases, without those that PyTorch itself refuses."""
    cases = {}
    for row in ROWS:
        for parameters in row.grid:
            for inputs in row.inputs:
                case = Case(row, parameters, inputs)
                cases.setdefault(case.name, case)
            if row.folds and row.layer is None:
                case = Case(row, parameters, row.inputs[0], folded=True)
                cases.setdefault(case.name, case)
    return list(cases.values())
