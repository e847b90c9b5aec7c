#!/usr/bin/env python3
"""Has Apple's coreai-core write small programs, and records what its runtime computes.

    .venv-coreai/bin/python Tests/AIModelTests/Goldens/make_goldens.py

Needs coreai-core==1.0.0b3. Every operation of a program is an output of its own, so that a test
finds the one that is read wrongly.
"""
import asyncio
import json
import shutil
from pathlib import Path

import numpy as np
from coreai._compiler.ir import Module
from coreai.authoring import AIModelAsset, AIProgram, Context
from coreai.runtime import NDArray

FOLDER = Path(__file__).parent
TYPES = {
    'float32': 'f32', 'float16': 'f16', 'int8': 'si8', 'uint8': 'ui8', 'int16': 'si16',
    'int32': 'si32', 'uint32': 'ui32', 'bool': 'i1',
}


def tensor_type(shape, element):
    return f'tensor<{"".join(f"{size}x" for size in shape)}{element}>'


class Graph:
    """The text of a graph, with each operation in MLIR's generic form."""

    def __init__(self, name, inputs, private=False):
        self.name, self.private, self.lines, self.outputs, self.count = name, private, [], [], 0
        self.inputs = [(f'%{key}', tensor_type(shape, element), key)
                       for key, (shape, element) in inputs.items()]
        self.types = {value: kind for value, kind, _ in self.inputs}

    def value(self, kind):
        self.count += 1
        name = f'%v{self.count}'
        self.types[name] = kind
        return name

    def constant(self, array, element=None):
        array = np.asarray(array)
        kind = tensor_type(array.shape, element or TYPES[str(array.dtype)])
        numbers = array.tolist()
        text = str(numbers).replace('True', 'true').replace('False', 'false')
        result = self.value(kind)
        self.lines.append(f'{result} = coreai.constant dense<{text}> : {kind}')
        return result

    def op(self, name, operands, *results, attribute='', shown=True):
        operands = [item if isinstance(item, str) else self.constant(item) for item in operands]
        values = [self.value(kind) for kind in results]
        types = ', '.join(self.types[item] for item in operands)
        self.lines.append(
            f'{", ".join(values)} = "coreai.{name}"({", ".join(operands)})'
            f'{" <{" + attribute + "}>" if attribute else ""} : ({types}) -> '
            f'({", ".join(results)})')
        if shown:
            self.outputs += values
        return values[0]

    def invoke(self, callee, operand, result):
        value = self.value(result)
        self.lines.append(
            f'{value} = coreai.invoke @{callee}({operand}) : ({self.types[operand]}) -> {result}')
        self.outputs.append(value)
        return value

    def text(self):
        arguments = ', '.join(
            f'{value}: {kind} {{coreai.name = "{key}"}}' for value, kind, key in self.inputs)
        results = ', '.join(
            f'{self.types[value]} {{coreai.name = "out{index}"}}'
            for index, value in enumerate(self.outputs))
        types = ', '.join(self.types[value] for value in self.outputs)
        body = '\n'.join(f'    {line}' for line in self.lines)
        private = 'private ' if self.private else ''
        return (f'  coreai.graph {private}@{self.name}({arguments}) -> ({results}) {{\n{body}\n'
                f'    coreai.output {", ".join(self.outputs)} : {types}\n  }}\n')


def ramp(*shape, scale=0.5):
    """Numbers without repeats in -1…1, times the scale."""
    count = int(np.prod(shape))
    numbers = (np.arange(count) * 7919 + 104_729) % 2003 / 1001.5 - 1
    return (numbers * scale).astype(np.float32).reshape(shape)


def unsigned(*numbers):
    return np.array(numbers, np.uint32)


def signed(*numbers):
    return np.array(numbers, np.int32)


IMAGE = (1, 4, 6, 8)
X = tensor_type(IMAGE, 'f32')


def elementwise():
    graph = Graph('main', {'x': (IMAGE, 'f32')})
    for name in ('relu', 'sigmoid', 'silu', 'tanh', 'exp', 'erf', 'abs', 'round', 'sin', 'cos'):
        graph.op(name, ['%x'], X)
    power = graph.op('exp', ['%x'], X, shown=False)
    graph.op('sqrt', [power], X)
    graph.op('rsqrt', [power], X)
    graph.op('log', [power], X)
    graph.op('gelu', ['%x'], X)
    graph.op('gelu', ['%x'], X, attribute='approximate = #coreai.approximate<tanh>')
    column = graph.constant(ramp(1, 4, 1, 1))
    for name in ('add', 'sub', 'mul', 'divide', 'maximum', 'minimum'):
        graph.op(name, ['%x', power], X)
        graph.op(f'decomposable.broadcasting_{name}', ['%x', column], X)
    graph.op('pow', [power, '%x'], X)
    mask = graph.op('greater', ['%x', power], tensor_type(IMAGE, 'i1'), shown=False)
    graph.op('where', [mask, '%x', power], X)
    graph.op('softmax', ['%x', np.int32(1)], X)
    graph.op('softmax', ['%x', np.int32(-1)], X)
    for name in ('reduce_mean', 'reduce_sum', 'reduce_max', 'reduce_min'):
        graph.op(name, ['%x', signed(2, 3)], tensor_type((1, 4, 1, 1), 'f32'))
    return [graph]


def layout():
    graph = Graph('main', {'x': (IMAGE, 'f32')})
    graph.op('reshape', ['%x', signed(2, 2, 48)], tensor_type((2, 2, 48), 'f32'))
    graph.op('transpose', ['%x', unsigned(0, 2, 3, 1)], tensor_type((1, 6, 8, 4), 'f32'))
    graph.op('concat', [np.int32(1), '%x', '%x'], tensor_type((1, 8, 6, 8), 'f32'))
    graph.op('split', ['%x', unsigned(1, 3), np.int32(1)], tensor_type((1, 1, 6, 8), 'f32'),
             tensor_type((1, 3, 6, 8), 'f32'))
    graph.op('slice', ['%x', signed(0, 1, 0, 2), signed(1, 4, 6, 8), signed(1, 1, 2, 3)],
             tensor_type((1, 3, 3, 2), 'f32'))
    graph.op('expand_dims', ['%x', signed(1)], tensor_type((1, 1, 4, 6, 8), 'f32'))
    graph.op('shrink_dims', ['%x', signed(0)], tensor_type((4, 6, 8), 'f32'))
    graph.op('reverse', ['%x', signed(3)], X)
    for mode in ('constant', 'reflect', 'replicate'):
        graph.op('pad', ['%x', unsigned(0, 0, 0, 0, 1, 2, 3, 0), np.float32(0.5)],
                 tensor_type((1, 4, 9, 11), 'f32'),
                 attribute=f'padding_mode = #coreai.padding_mode<{mode}>')
    small = graph.op('slice', ['%x', signed(0, 0, 0, 0), signed(1, 4, 1, 8), signed(1, 1, 1, 1)],
                     tensor_type((1, 4, 1, 8), 'f32'), shown=False)
    graph.op('broadcast_in_dims', [small, unsigned(6), signed(2)], X)
    graph.op('tile', ['%x', unsigned(1, 1, 2, 2)], tensor_type((1, 4, 12, 16), 'f32'))
    return [graph]


def images():
    graph = Graph('main', {'x': (IMAGE, 'f32')})
    one = unsigned(1, 1)
    graph.op('conv2d', ['%x', ramp(3, 4, 3, 3), unsigned(2, 1), one, np.uint32(1)],
             tensor_type((1, 3, 2, 6), 'f32'))
    graph.op('conv2d', ['%x', ramp(4, 1, 3, 3), one, unsigned(1, 2), np.uint32(4)],
             tensor_type((1, 4, 4, 4), 'f32'))
    padded = graph.op('pad', ['%x', unsigned(0, 0, 0, 0, 1, 0, 2, 1), np.float32(0)],
                      tensor_type((1, 4, 7, 11), 'f32'), shown=False,
                      attribute='padding_mode = #coreai.padding_mode<constant>')
    graph.op('conv2d', [padded, ramp(32, 4, 3, 3), one, one, np.uint32(1)],
             tensor_type((1, 32, 5, 9), 'f32'))
    graph.op('conv_transpose2d',
             ['%x', ramp(4, 2, 4, 4), unsigned(2, 2), one, one, unsigned(0, 0), np.uint32(1)],
             tensor_type((1, 2, 12, 16), 'f32'))
    graph.op('conv_transpose2d',
             ['%x', ramp(4, 2, 3, 3), unsigned(2, 2), one, one, unsigned(1, 1), np.uint32(2)],
             tensor_type((1, 4, 12, 16), 'f32'))
    for mode, scale, offset in (('linear', (2, 2), 0), ('nearest_neighbor', (2, 2), 0),
                                ('linear', (11 / 5, 15 / 7), None)):
        scales = np.array((1, 1) + scale, np.float32)
        offsets = 0.5 * (1 - scales) if offset is None else scales * 0
        graph.op('interpolate', ['%x', signed(1, 4, 12, 16), scales, offsets],
                 tensor_type((1, 4, 12, 16), 'f32'),
                 attribute=f'interpolation_mode = #coreai.interpolation_mode<{mode}>')
    graph.op('interpolate',
             ['%x', signed(1, 4, 9, 9), np.array((1, 1, 1.5, 9 / 8), np.float32),
              np.zeros(4, np.float32)], tensor_type((1, 4, 9, 9), 'f32'),
             attribute='interpolation_mode = #coreai.interpolation_mode<linear>')
    graph.op('max_pool_2d', ['%x', unsigned(3, 2), unsigned(1, 2), one, np.bool_(False)],
             tensor_type((1, 4, 4, 4), 'f32'))
    graph.op('sum_pool_2d', ['%x', unsigned(2, 2), unsigned(2, 2), one],
             tensor_type((1, 4, 3, 4), 'f32'))
    rows = graph.op('reshape', ['%x', signed(1, 4, 8, 6)], tensor_type((1, 4, 8, 6), 'f32'),
                    shown=False)
    graph.op('batch_matmul', ['%x', rows], tensor_type((1, 4, 6, 6), 'f32'))
    return [graph]


def weights():
    """Compressed weights; those of fewer than eight bits are resources, packed into bytes."""
    graph = Graph('main', {'x': ((1, 4, 4, 4), 'f32')})
    one, groups, shape = unsigned(1, 1), np.uint32(1), (6, 4, 1, 1)
    result = tensor_type((1, 6, 4, 4), 'f32')

    def convolve(weight):
        graph.op('conv2d', ['%x', weight, one, one, groups], result)

    for bits in (1, 2, 4, 6, 8):
        indices = resource(graph, (np.arange(24) * 5 + 3) % 2**bits, bits, shape, f'ui{bits}')
        table = graph.constant(ramp(1, 1, 1, 1, 2**bits, 1))
        convolve(graph.op('lut_to_dense', [indices, table, np.int16(0)],
                          tensor_type(shape, 'f32'), shown=False))
    data = graph.constant(np.arange(24, dtype=np.int8).reshape(shape) - 12)
    convolve(graph.op(
        'blockwise_shift_scale',
        [data, ramp(6, 1, 1, 1, scale=0.1), np.arange(6, dtype=np.int8).reshape(6, 1, 1, 1),
         np.zeros((6, 1, 1, 1), np.float32)], tensor_type(shape, 'f32'), shown=False))
    nibbles = resource(graph, (np.arange(24) * 5) % 16, 4, shape, 'si4')
    zeros = graph.constant(np.zeros((6, 2, 1, 1), np.int8), 'si4')
    convolve(graph.op(
        'blockwise_shift_scale',
        [nibbles, ramp(6, 2, 1, 1, scale=0.1), zeros, np.zeros((6, 2, 1, 1), np.float32)],
        tensor_type(shape, 'f32'), shown=False))
    return [graph]


RESOURCES = {}


def resource(graph, numbers, bits, shape, element):
    """A constant whose elements are packed, the first one into the low bits."""
    stream = sum(int(number) << (index * bits) for index, number in enumerate(numbers))
    name = f'weight_{len(RESOURCES)}'
    RESOURCES[name] = stream.to_bytes((len(numbers) * bits + 7) // 8, 'little')
    kind = tensor_type(shape, element)
    result = graph.value(kind)
    graph.lines.append(f'{result} = coreai.constant dense_resource<{name}> : {kind}')
    return result


def half():
    graph = Graph('main', {'x': (IMAGE, 'f32')})
    kind = tensor_type(IMAGE, 'f16')
    x = graph.op('cast', ['%x'], kind, shown=False)
    y = graph.op('conv2d', [x, ramp(4, 4, 1, 1).astype(np.float16), unsigned(1, 1),
                            unsigned(1, 1), np.uint32(1)], kind, shown=False)
    z = graph.op('relu', [y], kind, shown=False)
    graph.op('cast', [z], X)
    return [graph]


def quantized():
    """Activations of eight bits: one scale, and one for each channel."""
    graph = Graph('main', {'x': (IMAGE, 'f32')})
    kind = tensor_type(IMAGE, 'si8')
    scales = np.array([0.01, 0.02, 0.015, 0.03], np.float32)
    for scale, zero, axes in (
            (np.float32(0.0125), np.int8(3), signed(0, 1, 2, 3)),
            (scales, np.array([0, 5, -7, 1], np.int8), np.int32(1))):
        numbers = [scale, zero, np.zeros_like(scale), axes]
        y = graph.op('quantize', ['%x', *numbers], kind, shown=False)
        graph.op('dequantize', [y, *numbers], X)
    return [graph]


def invoked():
    """A graph that another one invokes twice."""
    inner = Graph('block', {'a': (IMAGE, 'f32')}, private=True)
    inner.op('tanh', ['%a'], X)
    graph = Graph('main', {'x': (IMAGE, 'f32')})
    first = graph.invoke('block', '%x', X)
    graph.invoke('block', first, X)
    return [inner, graph]


def numbers(array):
    """The elements with the digits that float32 has."""
    return [float(f'{value:.9g}') for value in array.astype(float).ravel()]


async def run(path, feeds):
    async with AIModelAsset.load(path).executable() as model:
        function = model.load_function('main')
        outputs = await function({name: NDArray(array) for name, array in feeds.items()})
        return {name: np.array(value.numpy()) for name, value in outputs.items()}


def record(name, graphs):
    path = FOLDER / f'{name}.aimodel'
    blobs = ',\n'.join(
        f'    {key}: "0x10000000{data.hex().upper()}"' for key, data in RESOURCES.items())
    text = 'module {\n' + ''.join(graph.text() for graph in graphs) + '}\n'
    if blobs:
        text += '{-#\n  dialect_resources: { builtin: {\n' + blobs + '\n  } }\n#-}\n'
    RESOURCES.clear()
    module = Module.parse(text, Context()._mlir_context)
    shutil.rmtree(path, ignore_errors=True)
    AIProgram._from_mlir_module(module).save_asset(path)
    metadata = json.loads((path / 'metadata.json').read_text())
    metadata['creationDate'] = '20260101T000000Z'
    (path / 'metadata.json').write_text(json.dumps(metadata, indent=2, sort_keys=True) + '\n')
    main = graphs[-1]
    shape = [int(size) for size in main.inputs[0][1][7:-5].split('x')]
    feed = ramp(*shape, scale=2)
    outputs = asyncio.run(run(path, {'x': feed}))
    return {
        'input': {'shape': shape, 'values': numbers(feed)},
        'outputs': {
            key: {'shape': list(value.shape), 'values': numbers(value)}
            for key, value in sorted(outputs.items())},
    }


def main():
    programs = (elementwise, layout, images, weights, half, quantized, invoked)
    expected = {program.__name__: record(program.__name__, program()) for program in programs}
    text = json.dumps(expected, sort_keys=True, separators=(',', ':'))
    (FOLDER / 'expected.json').write_text(
        text.replace('},"', '},\n"').replace('],"', '],\n"') + '\n')


if __name__ == '__main__':
    main()
