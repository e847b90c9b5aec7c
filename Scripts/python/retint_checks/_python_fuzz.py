"""Calls of the C interface as no caller should make them."""

import ctypes
import json
import random
import threading
import time
import unittest

import numpy

from retint_checks._python_case import SMALL

# The path to the module is that of _python_case.
import retint
from retint import _library

# How long the calls go on.
seconds = 5.0


class Fuzz(unittest.TestCase):
    """Every function of the C interface, with values that no caller should pass."""

    NUMBERS = (0, 1, -1, 2, 3, 1 << 31, -(1 << 63), (1 << 63) - 1)
    TEXTS = (None, b"", b"[]", b"{}", b"null", b'["inspect"]', b'["--help"]', b'["verify", "x"]',
             b"[1, 2]", b"\xff\xfe", b'{"path": 5}', b'{"path": "/dev/null"}', b'["' + b"x" * 70000,
             b'{"path": "' + SMALL.encode() + b'"}', b'["inspect", "' + SMALL.encode() + b'"]',
             b'["inspect", "/dev/zero"]', b'["train", "--config", "/dev/null"]', b"[[]]" * 9)

    def test_absurd_values(self):
        functions = _library.library()
        end = time.monotonic() + seconds
        failures = []
        threads = [threading.Thread(target=self.attack, args=(functions, seed, end, failures))
                   for seed in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertIn("architecture", retint.inspect(SMALL))

    def attack(self, functions, seed, end, failures):
        generator, numbers = random.Random(seed), list(self.NUMBERS)
        try:
            while time.monotonic() < end:
                self.step(functions, generator, numbers)
        except BaseException as error:  # noqa: BLE001
            failures.append(repr(error))

    def step(self, functions, generator, numbers):
        def number():
            return generator.choice(numbers)

        kind = generator.randrange(10)
        if kind == 0:
            numbers.append(functions.retint_command(generator.choice(self.TEXTS)))
        elif kind == 1:
            numbers.append(functions.retint_model_open(generator.choice(self.TEXTS)))
        elif kind == 2:
            tensors, count, kept = self.tensors(generator)
            numbers.append(functions.retint_model_run(number(), tensors, count))
            del kept
        elif kind == 3:
            tensors, count, kept = self.tensors(generator)
            path = generator.choice((None, b"", b"/dev/null/x", b"/proc/x.h5", b"\xff"))
            numbers.append(functions.retint_write(path, tensors, count))
            del kept
        elif kind == 4:
            functions.retint_wait(number(), generator.choice((0, 1, -5, 30)))
        elif kind == 5:
            functions.retint_cancel(number())
        elif kind == 6:
            text = functions.retint_result(number())
            if text:
                json.loads(ctypes.string_at(text))
            functions.retint_free(text)
        elif kind == 7:
            text = functions.retint_messages(number())
            if text:
                json.loads(ctypes.string_at(text))
            functions.retint_free(text)
        elif kind == 8:
            tensor = _library.Tensor()
            functions.retint_output(number(), generator.choice((0, 1, -1, 1 << 30)),
                                    generator.choice((None, ctypes.byref(tensor))))
            numbers.append(functions.retint_model_layers(number()))
        else:
            functions.retint_release(number())
        # Models and outputs take memory until they are released.
        if len(numbers) > len(self.NUMBERS) + 12:
            for old in numbers[len(self.NUMBERS):]:
                functions.retint_release(old)
            del numbers[len(self.NUMBERS):]

    def tensors(self, generator):
        """Tensors whose memory is there, with shapes that may not be those of a tensor."""
        kept, count = [], generator.choice((0, 1, 2, -1, 1))
        tensors = (_library.Tensor * 2)()
        for tensor in tensors:
            data = (ctypes.c_float * 4096)()
            rank = generator.choice((0, 1, 2, 4, 8, 9, -1, 1 << 30))
            extents = [generator.choice((1, 2, 4, 1, 1, 0, -1, 1 << 62)) for _ in range(9)]
            if all(extent > 0 for extent in extents) and numpy.prod(
                    [float(e) for e in extents[:max(rank, 0)]]) > 4096:
                extents[0] = -1
            shape = (ctypes.c_int64 * 9)(*extents)
            tensor.name = generator.choice((None, b"", b"x", b"input", b"a/b", b"\xff", b"../x"))
            tensor.data = generator.choice((ctypes.addressof(data), ctypes.addressof(data), 0))
            tensor.type = generator.choice((0, 0, 4, 9, 10, -1, 1 << 30))
            tensor.rank = rank
            tensor.shape = generator.choice((shape, shape, None))
            if tensor.type in (1, 4):
                tensor.type = 0
            kept += [data, shape]
        return generator.choice((tensors, tensors, None)), count, kept
