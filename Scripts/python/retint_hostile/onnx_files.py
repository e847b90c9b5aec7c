"""ONNX files whose structure, weights, operations or external files are absurd."""

import os

import numpy
from onnx import TensorProto, helper, numpy_helper

from .case import Case, REFUSED, TOLERATED, label, named_once
from .numbers import INT64

IMPORT = ("import", "file.onnx", "-o", "new.h5")
INSPECT = ("inspect", "file.onnx", "--json")
SIZE = 32


def network(nodes=None, initializers=(), channels=2, opset=17):
    """A model of lightness, `x`; without nodes a convolution to two colors, `y`."""
    weight = numpy.full((channels, 1, 3, 3), 0.1, "f4")
    if nodes is None:
        nodes = [helper.make_node("Conv", ["x", "w"], ["y"], name="conv", pads=[1, 1, 1, 1])]
        initializers = [numpy_helper.from_array(weight, "w"), *initializers]
    graph = helper.make_graph(
        nodes, "hostile", [helper.make_tensor_value_info("x", 1, [1, 1, SIZE, SIZE])],
        [helper.make_tensor_value_info("y", 1, [1, 2, SIZE, SIZE])], list(initializers))
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def constant(name, values, kind="i8"):
    return numpy_helper.from_array(numpy.array(values, kind), name)


def colors(nodes, initializers=()):
    """Nodes that compute `z` of `y0`, followed by what makes colors of it."""
    base = network()
    base.graph.node[0].output[0] = "y0"
    base.graph.node.extend(nodes)
    base.graph.node.append(helper.make_node("Add", ["y0", "z"], ["y"]))
    base.graph.initializer.extend(initializers)
    return base


def changed(change):
    model = network()
    change(model)
    return model


def _structures():
    def conv(model):
        return model.graph.node[0]

    def set_input(name):
        return lambda model: conv(model).input.__setitem__(0, name)

    def many(make, count):
        return lambda model: [make(model) for _ in range(count)]

    for version in INT64:
        yield f"opset={version}", changed(
            lambda model, v=version: setattr(model.opset_import[0], "version", v))
        yield f"ir-version={version}", changed(
            lambda model, v=version: setattr(model, "ir_version", v))
        if version not in (0, 1):
            yield f"height={version}", changed(
                lambda model, v=version: [setattr(
                    info.type.tensor_type.shape.dim[1], "dim_value", v)
                    for info in model.graph.input])
    yield "cycle", changed(set_input("y"))
    yield "unknown-input", changed(set_input("nothing"))
    yield "no-nodes", changed(lambda model: model.graph.ClearField("node"))
    yield "no-outputs", changed(lambda model: model.graph.ClearField("output"))
    yield "no-inputs", changed(lambda model: model.graph.ClearField("input"))
    yield "no-graph", changed(lambda model: model.ClearField("graph"))
    yield "two-nodes-of-one-name", changed(lambda model: model.graph.node.append(conv(model)))
    yield "domain", changed(lambda model: setattr(conv(model), "domain", "x\x1b[31m\nFORGED"))
    for name in ("", "x\x1b[31m\nFORGED", "a" * 1_000_000, "x\u202ey", "../x", "é" * 600):
        yield f"operation={label(name)}", changed(
            lambda model, n=name: setattr(conv(model), "op_type", n))
        yield f"input={label(name)}", changed(set_input(name))
    def chain(operation, count):
        def change(model):
            for index in range(count):
                model.graph.node.add(
                    op_type=operation(index), input=[f"n{index}" if index else "y"],
                    output=[f"n{index + 1}"])
            model.graph.output[0].name = f"n{count}"
        return changed(change)

    yield "unknown-operations", chain(lambda index: f"Op{index}\nFORGED", 1000)
    yield "60000-nodes", chain(lambda index: "Neg", 60_000), TOLERATED
    many_values = many(lambda model: model.graph.value_info.add(), 600_000)
    yield "600000-values", changed(many_values), TOLERATED
    many_inputs = many(lambda model: conv(model).input.append(""), 600_000)
    yield "600000-inputs", changed(many_inputs), TOLERATED
    yield "600000-empty-nodes", changed(many(lambda model: model.graph.node.add(), 600_000))


def _weights():
    def weight(**fields):
        def change(model):
            for name, value in fields.items():
                if isinstance(value, (list, tuple)):
                    model.graph.initializer[0].ClearField(name)
                    getattr(model.graph.initializer[0], name).extend(value)
                else:
                    setattr(model.graph.initializer[0], name, value)
        return changed(change)

    for number in (-1, 0, 3, 2**31, 2**62, 2**63 - 1, -(2**63)):
        yield f"extent={number}", weight(dims=[2, 1, 3, number] if number != 3 else [2, 1, 3])
    yield "dims=overflow", weight(dims=[2**32, 2**32])
    yield "dims=0-overflow", weight(dims=[0, 2**62, 2**62])
    yield "dims=many", weight(dims=[1] * 100_000)
    for kind in (0, 8, 14, 17, 23, 99, -1):
        yield f"type={kind}", weight(data_type=kind)
    yield "short", weight(raw_data=b"123")
    yield "long", weight(raw_data=bytes(10_000))
    yield "name", weight(name="x\x1b[31m\nFORGED")
    yield "twice", changed(
        lambda model: model.graph.initializer.append(model.graph.initializer[0]))


def _constants():
    """Small files that ask for much."""
    def made(operation, inputs, **attributes):
        names = [f"c{index}" for index in range(len(inputs))]
        return colors(
            [helper.make_node(operation, names, ["z"], **attributes)],
            [constant(name, *values) for name, values in zip(names, inputs)])

    one = helper.make_tensor("value", TensorProto.INT64, [1], [1])
    for count in (2**15, 2**30, 2**40, 2**62, -1):
        yield f"constant-of-shape={count}", made("ConstantOfShape", [([count, count],)], value=one)
        yield f"expand={count}", made("Expand", [([1],), ([count, count],)])
        yield f"tile={count}", made("Tile", [([[1]],), ([count, count],)])
        yield f"range={count}", made("Range", [(0,), (count * 2**14 % 2**63,), (1,)])
    for count in (2**28, 2**62, -(2**63)):
        yield f"pad={count}", colors(
            [helper.make_node("Pad", ["y0", "p"], ["z"], mode="edge")],
            [constant("p", [0, 0, 0, 0, 0, 0, 0, count])])
        yield f"resize={count}", colors(
            [helper.make_node("Resize", ["y0", "", "", "s"], ["z"], mode="cubic")],
            [constant("s", [1, 2, SIZE, count])])
    for scale in (0.0, -1.0, 1e30, float("nan"), float("inf"), 1e-30):
        yield f"scale={scale}", colors(
            [helper.make_node("Resize", ["y0", "", "s"], ["z"], mode="linear")],
            [constant("s", [1, 1, 1, scale], "f4")])
    yield "einsum", colors([helper.make_node(
        "Einsum", ["y0"] * 4, ["z"], equation="abcd,efgh,ijkl,mnop->abcdefghijklmnop")])
    names = ["y0", *(f"r{index}" for index in range(63)), "z"]
    yield "resize-often", colors(
        [helper.make_node("Resize", [names[i], "", "", f"s{i % 2}"], [names[i + 1]], mode="cubic")
         for i in range(64)],
        [constant("s0", [1, 2, 5001, SIZE]), constant("s1", [1, 2, 5003, SIZE])])


def _operations():
    def conv(**attributes):
        return changed(lambda model: [
            model.graph.node[0].attribute.append(helper.make_attribute(*pair))
            for pair in attributes.items()])

    for number in (0, -1, 2**20 + 1, 2**62, -(2**63)):
        yield f"strides={number}", conv(strides=[number, number])
        yield f"dilations={number}", conv(dilations=[number, number])
        yield f"group={number}", conv(group=number)
    yield "auto-pad", conv(auto_pad="x\x1b[31m\nFORGED")
    yield "strides=text", conv(strides="1")
    yield "strides=many", conv(strides=[1] * 1_000_000)
    for axis in (9, -9, 2**62, -(2**63)):
        yield f"axis={axis}", colors([helper.make_node("Softmax", ["y0"], ["z"], axis=axis)])
    for name, numbers in {"divided-by-zero": (1, 0), "negated": (-(2**63), -1)}.items():
        yield name, colors(
            [helper.make_node("Div", ["a", "b"], ["z"])],
            [constant("a", [numbers[0]]), constant("b", [numbers[1]])])


def _external():
    """Weights in files beside the model."""
    def outside(folder, model, location, offset=None, length=None):
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", location), ("offset", offset), ("length", length)):
            if value is not None:
                tensor.external_data.add(key=key, value=value)
        (folder / "weights").write_bytes(bytes(72))
        (folder / "sparse").touch()
        os.truncate(folder / "sparse", 2**40)
        (folder / "link").symlink_to("weights")
        (folder / "zero").symlink_to("/dev/zero")
        (folder / "linked").symlink_to(".")
        os.mkfifo(folder / "pipe")
        (folder / "file.onnx").write_bytes(model.SerializeToString())

    places = [
        ("../base/model.h5",), ("/etc/passwd",), ("/dev/zero",), ("zero",), ("link",),
        ("linked/weights",), ("pipe",), (".",), ("",), ("missing",), ("a" * 100_000,),
        ("x\x1b[31m\nFORGED",), ("weights", "1"), ("weights", "72"), ("weights", "-1"),
        ("weights", str(2**63 - 1)), ("weights", str(2**64)), ("weights", "0", "71"),
        ("weights", "0", "-72"), ("weights", "0", str(2**63 - 1)), ("weights", "x"),
        ("sparse", str(2**40)), ("sparse", str(2**40 - 71)), ("file.onnx", "9999"),
    ]
    for place in places:
        yield "external=" + label("+".join(place)), lambda folder, place=place: outside(
            folder, network(), *place)


def _field(number, content):
    """A part of a message."""
    length, count = b"", len(content)
    while count >= 0x80:
        length += bytes([count & 0x7F | 0x80])
        count >>= 7
    return bytes([number << 3 | 2]) + length + bytes([count]) + content


def _nested(depth):
    """A model whose graph holds a node that holds a graph, and so on."""
    graph = b""
    for _ in range(depth):
        graph = _field(1, _field(4, b"If") + _field(2, b"y") + _field(5, _field(6, graph)))
    return _field(7, graph) + network().SerializeToString()


def _damage():
    whole = network().SerializeToString()
    random = numpy.random.default_rng(6)
    for count in range(0, len(whole), 9):
        yield f"cut={count}", REFUSED, whole[:count]
    for index in range(100):
        content = bytearray(whole)
        for place in random.integers(0, len(whole), 3):
            content[place] = random.integers(0, 256)
        yield f"random={index}", TOLERATED, bytes(content)
    for depth in (3, 20, 30, 1000, 20_000):
        yield f"graphs-in-graphs={depth}", REFUSED, _nested(depth)
    for name, content in {
        "empty": b"", "zeros": bytes(10_000), "text": b"ONNX\n" * 1000, "ones": b"\xff" * 10_000,
        "deep": b"\x3a\x80\x80\x40" * 10_000, "group": b"\xfb\x07" * 1_000_000,
    }.items():
        yield name, REFUSED, content


def cases(base):
    """All of these files, imported; and inspected, every third."""
    subjects = []
    for family in (_structures, _weights, _constants, _operations):
        for name, model, *rule in family():
            subjects.append((name, rule[0] if rule else REFUSED, model.SerializeToString()))
    subjects += _damage()
    made = []
    for index, (name, rule, content) in enumerate(subjects):
        def write(folder, content=content):
            (folder / "file.onnx").write_bytes(content)

        made.append(Case(f"onnx/{name}", rule, IMPORT, write))
        if index % 3 == 0:
            made.append(Case(f"onnx/inspect-{name}", TOLERATED, INSPECT, write))
    made += [Case(f"onnx/{name}", REFUSED, IMPORT, write) for name, write in _external()]
    return named_once(made)
