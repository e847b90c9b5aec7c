"""Compiles the C code for aarch64, and compares its kernels there with those of this machine.

    Scripts/check portable [--seed S]

Needs Scripts/setup --aarch64. A driver calls every function of CKernels.h and those of colors,
motion, resampling and exchange, with numbers by the seed, compiled for this machine, with its own
instructions, and for aarch64, without: there it runs in an emulator. The results of both have to be
the same or, where sums are rounded in another order, close; most are also compared with float64.
What lies beside the results must stay as it was. The exit status is 1 if a result is off, or if a
function of the header is not called.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

import retint_options
from retint_portable import (
    builds, convolutions, images, maps, products, program, reductions, threads, winograd)
from retint_tool import ROOT

HEADER = ROOT / "Sources/Tensors/CKernels/include/CKernels.h"
DECLARATION = re.compile(r"^(?:RT_MAP\(|[a-z][\w ]*[ *])(rt_\w+)[()]", re.MULTILINE)
AREAS = [area for module in (maps, products, convolutions, winograd, reductions, images, threads)
         for area in module.AREAS]
MOST_LINES = 40


class Check:
    def __init__(self, seed):
        self.program, self.violations = program.Program(seed), []
        with numpy.errstate(all="ignore"):
            for area in AREAS:
                area(self.program)
        self.speeds = self.program.array(numpy.zeros(3, numpy.int32))
        for kind in (program.FLOAT16, program.BFLOAT16):
            self.program.call("rt_half_products", self.speeds.at(kind), kind)
        self.memory = self.program.memory()

    def run(self, folder):
        drivers = builds.Builds(folder).make()
        calls = folder / "calls"
        calls.write_text(self.program.text())
        memories = {processor.name: self.run_driver(processor, driver, calls)
                    for processor, driver in drivers.items()}
        self.check_header()
        for name, memory in memories.items():
            self.check_beside(name, memory)
        for result in self.program.results:
            self.check_result(result, memories)

    def run_driver(self, processor, driver, calls):
        file = driver.with_suffix(".memory")
        file.write_bytes(self.memory.tobytes())
        subprocess.run([*processor.emulator, driver, file, calls], check=True)
        return numpy.frombuffer(file.read_bytes(), numpy.uint8)

    def check_header(self):
        declared = set(DECLARATION.findall(HEADER.read_text()))
        for name in sorted(declared - self.program.called()):
            self.violations.append(f"{name} of {HEADER.name} is not called")

    def check_beside(self, name, memory):
        """Nothing but results is written."""
        changed = memory != self.memory
        for array in (*self.program.written, self.speeds):
            changed[array.offset:array.end] = False
        if changed.any():
            place = int(changed.argmax())
            before = [result for result in self.program.results if result.array.end <= place]
            nearest = max(before, key=lambda result: result.array.end, default=None)
            self.violations.append(f"{name}: {changed.sum()} bytes are written beside the results, "
                                   f"the first after {nearest.name if nearest else 'no result'}")

    def check_result(self, result, memories):
        values = {name: result.read(memory) for name, memory in memories.items()
                  if not result.needs or self.speeds.read(memory)[result.needs]}
        if result.truth is not None:
            [dtype] = {v.dtype for v in values.values()} or {numpy.dtype(float)}
            truth = result.truth.astype(dtype if result.bound is None else numpy.float64)
            for name, got in values.items():
                self.compare(result, got, truth, name, "the formula", 1)
        if len(values) == 2:
            (first, one), (second, other) = values.items()
            self.compare(result, other, one, second, first, 2)

    def compare(self, result, got, wanted, name, other, times):
        """Notes what is further off than so many times the bound."""
        wanted = wanted.reshape(got.shape)
        with numpy.errstate(all="ignore"):
            if result.bound is None:
                off = bits(got) != bits(wanted)
                numbers = ""
            else:
                got, wanted = got.astype(numpy.float64), wanted.astype(numpy.float64)
                bound = times * result.bound(wanted)
                error = numpy.abs(got - wanted)
                off = ~((error <= bound) | (got == wanted))
                off &= ~(numpy.isnan(got) & numpy.isnan(wanted))
                finite = error[numpy.isfinite(error)]
                numbers = (f", by at most {finite.max(initial=0):.3g} instead of "
                           f"{numpy.nanmax(bound, initial=0):.3g}")
        if off.any():
            index = tuple(map(int, numpy.argwhere(off)[0]))
            self.violations.append(
                f"{result.name}: {name} against {other}: {off.sum()} of {off.size} values differ"
                f"{numbers}; the first at {index}: {got[index]!r}, not {wanted[index]!r}")


def bits(values):
    """The bits of values; NaN has many."""
    if values.dtype.kind != "f":
        return values
    values = numpy.where(numpy.isnan(values), numpy.nan, values).astype(values.dtype)
    return numpy.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    builds.require()
    check = Check(options.seed)
    with tempfile.TemporaryDirectory(prefix="retint-portable-") as folder:
        check.run(pathlib.Path(folder))
    for violation in check.violations[:MOST_LINES]:
        print(f"portable: {violation}", file=sys.stderr)
    print(f"{len(check.program.results)} results of {len(check.program.called())} functions on "
          f"{builds.HOST.name} and {builds.AARCH64.name}, {len(check.violations)} off")
    return 1 if check.violations else 0
