import RetintONNXProto

extension RefusedModel {
    private static let huge: Int64 = 1 << 62

    /// A node with constants and attributes, at opset 17.
    private static func node(
        _ operation: String, _ words: String, _ constants: [ONNXTensorProto] = [],
        _ attributes: [ONNXAttributeProto] = [], input: [Int64] = [1, 2, 4, 6], opset: Int64 = 17,
        outputs: Int = 1
    ) -> RefusedModel {
        let values =
            attributes.map { "\($0.name) \($0.i) \($0.ints) \($0.f)" }
            + constants.map { "\($0.dims) \($0.int64Data.prefix(4)) \($0.floatData.prefix(4))" }
        return RefusedModel("\(operation) \(values) of \(input), \(outputs) outputs", words) {
            var maker = ModelMaker(opset: opset, input: input)
            for (index, constant) in constants.enumerated() {
                var constant = constant
                constant.name = "c\(index)"
                maker.proto.graph.initializer.append(constant)
            }
            let more = (1..<outputs).map { "z\($0)" }
            maker.node(
                operation, ["x"] + constants.indices.map { "c\($0)" }, ["y"] + more, attributes)
            return maker
        }
    }

    private static func integers(_ values: Int64..., shape: [Int64]? = nil) -> ONNXTensorProto {
        .integers("", values, shape)
    }

    private static func floats(_ count: Int, _ shape: [Int64]? = nil) -> ONNXTensorProto {
        .floats("", [Float](repeating: 0.5, count: count), shape)
    }

    /// Parts that do not fit each other, and numbers out of range.
    static let operations: [RefusedModel] = [
        node("LeakyRelu", "alpha is of another type", [], [.integer("alpha", 1)]),
        node("Conv", "does not fit", [floats(8)]),
        node(
            "Conv", "attribute strides", [floats(18, [1, 2, 3, 3])],
            [.integers("strides", [0, 0, 0])]),
        node("Conv", "from 1 to", [floats(18, [1, 2, 3, 3])], [.integers("strides", [0, 1])]),
        node(
            "Conv", "attribute pads", [floats(18, [1, 2, 3, 3])],
            [.integers("pads", [huge, 0, 0, 0])]),
        node(
            "Conv", "attribute pads", [floats(18, [1, 2, 3, 3])],
            [.integers("pads", [-1, 0, 0, 0])]),
        node("Conv", "attribute group", [floats(18, [1, 2, 3, 3])], [.integer("group", .max)]),
        node("Conv", "auto_pad", [floats(18, [1, 2, 3, 3])], [.string("auto_pad", "SOME")]),
        node(
            "ConvTranspose", "auto_pad", [floats(18, [2, 1, 3, 3])], [.string("auto_pad", "SOME")]),
        node(
            "ConvTranspose", "output_shape", [floats(18, [2, 1, 3, 3])],
            [.integers("output_shape", [huge, huge])]),
        node("MaxPool", "no kernel_shape"),
        node("MaxPool", "kernel_shape", [], [.integers("kernel_shape", [huge, 1])]),
        node("MaxPool", "kernel's side", [], [.integers("kernel_shape", [0, 0])]),
        node("MaxPool", "does not fit", [], [.integers("kernel_shape", [9, 9])]),
        node(
            "AveragePool", "dilated kernel", [],
            [
                .integers("kernel_shape", [512, 512]), .integers("dilations", [2, 1]),
                .integers("pads", [2000, 2000, 2000, 2000]),
            ]),
        node(
            "BatchNormalization", "spatial=0", [floats(2), floats(2), floats(2), floats(2)],
            [.integer("spatial", 0)], opset: 8),
        node(
            "BatchNormalization", "must have shape [2]",
            [floats(3), floats(2), floats(2), floats(2)]),
        node("InstanceNormalization", "it takes [N, C", [floats(2), floats(2)], input: [1, 2]),
        node("LayerNormalization", "axis 9", [floats(2)], [.integer("axis", 9)]),
        node("GroupNormalization", "num_groups is 0", [floats(2), floats(2)], opset: 18),
        node("Softmax", "axis -9", [], [.integer("axis", -9)]),
        node("Concat", "axis 0 is out of range for rank 0", [], [.integer("axis", 0)], input: []),
        node("Concat", "the same rank", [floats(1)], [.integer("axis", 1)]),
        node("Split", "do not make up", [integers(1, .max)], [.integer("axis", 1)], outputs: 2),
        node("Split", "do not make up", [integers(-1, 3)], [.integer("axis", 1)], outputs: 2),
        node("Slice", "do not agree", [integers(0), integers(1, 2)]),
        node("Slice", "do not agree", [integers(0), integers(1), integers(0), integers(0)]),
        node("Slice", "named twice", [integers(0, 0), integers(1, 1), integers(1, 1)]),
        node("Slice", "empty", [integers(3), integers(1)]),
        node("Gather", "index 2 is out of range", [integers(2)], [.integer("axis", 1)]),
        node("Gather", "of integers", [floats(1)], [.integer("axis", 1)]),
        node("Gather", "do not fit", [integers(0, shape: [1, 1, 1, 1, 1, 1])]),
        node("GatherND", "do not fit", [integers(0, 0, 0, 0, 0)]),
        node("GatherND", "out of range", [integers(7)]),
        node("GatherND", "do not fit", [integers(0)], [.integer("batch_dims", huge)]),
        node("ScatterND", "updates of", [integers(0, shape: [1, 1]), floats(1)]),
        node("Reshape", "cannot take the shape", [integers(7, 7)]),
        node("Reshape", "out of range", [integers(huge, huge)]),
        node("Reshape", "out of range", [integers(-1, -1)]),
        node("Reshape", "has no axis 5", [integers(1, 2, 4, 6, 1, 0)]),
        node("Reshape", "rank 9", [integers(1, 1, 1, 1, 1, 1, 1, 1, 1)]),
        node("Flatten", "axis 5", [], [.integer("axis", 5)]),
        node("Squeeze", "are not all 1", [integers(1)]),
        node("Unsqueeze", "rank 9", [integers(0, 1, 2, 3, 4)]),
        node("Unsqueeze", "out of range", [integers(.min)]),
        node("Transpose", "does not order", [], [.integers("perm", [0, 1, 2, 2])]),
        node("DepthToSpace", "blocksize is 0"),
        node("DepthToSpace", "are not supported", [], [.integer("blocksize", 1 << 30)]),
        node("SpaceToDepth", "do not fit", [], [.integer("blocksize", 5)]),
        node("Expand", "out of range", [integers(-1, 2, 4, 6)]),
        node("Expand", "more than", [integers(1 << 20, 1 << 20, 1, 1, 1, 1)]),
        node("Tile", "too large", [integers(.max, .max, 1, 1)]),
        node("Tile", "more than", [integers(1 << 30, 1 << 30, 1, 1)]),
        node("Pad", "do not fit", [integers(.min, 0, 0, 0, 0, 0, 0, 0)]),
        node("Pad", "do not fit", [integers(1, 2)]),
        node("Pad", "is out of range", [integers(0, 0, -9, 0, 0, 0, 0, 0)]),
        node(
            "Pad", "mode reflect", [integers(0, 0, 4, 0, 0, 0, 0, 0)],
            [.string("mode", "reflect")]),
        node(
            "Pad", "mode edge", [integers(0, 0, 1 << 29, 0, 0, 0, 0, 0)],
            [.string("mode", "edge")]),
        node("Upsample", "out of range", [.floats("", [1, 1, 1e30, 1])], opset: 9),
        node("Upsample", "out of range", [.floats("", [1, 1, .nan, 1])], opset: 9),
        node("Upsample", "out of range", [.floats("", [1, 1, 0, 1])], opset: 9),
        node("Upsample", "do not fit", [.floats("", [1, 1])], opset: 9),
        node(
            "Upsample", "mode \"\\u{1B}[31m\"", [.floats("", [1, 1, 2, 2])],
            [.string("mode", "\u{1b}[31m")], opset: 9),
        node("Resize", "do not fit", [floats(0), floats(0), integers(1, 2, huge, 1)]),
        node(
            "Resize", "over 8192", [floats(0), floats(0), integers(1, 2, 1 << 29, 7)],
            [.string("mode", "linear")]),
        node("Resize", "its input 3 is missing", [floats(0), floats(0)]),
        node("CumSum", "axis 8", [integers(8)]),
        node("CumSum", "of integers", [.floats("", [.infinity])]),
        node("Trilu", "not a matrix", input: [3]),
        node("EyeLike", "not a matrix"),
        node("EyeLike", "cast to type 8", [], [.integer("dtype", 8)], input: [3, 3]),
        node("Col2Im", "two spatial dimensions", [integers(4, 4), integers(2, 2)]),
        node("Col2Im", "do not fit", [integers(4, 4), integers(2, huge)], input: [1, 4, 9]),
        node("Col2Im", "do not fit", [integers(5, 4), integers(2, 2)], input: [1, 4, 9]),
        node("AffineGrid", "do not fit", [integers(2, 3, 4, 5)], input: [1, 2, 3]),
        node("AffineGrid", "two spatial", [integers(1, 3, 4, 5, 6)], input: [1, 3, 4]),
        node(
            "AffineGrid", "more than", [integers(1, 1, 1 << 20, 1 << 20)], input: [1, 2, 3]),
        node(
            "GridSample", "two spatial dimensions", [floats(3, [1, 1, 1, 1, 3])],
            input: [1, 1, 2, 2, 2]),
        node("OneHot", "a depth of 0", [integers(0, shape: []), floats(2)]),
        node("OneHot", "too large", [integers(1 << 40, shape: []), floats(2)]),
        node("Einsum", "equation \"ij,\"", [], [.string("equation", "ij,")]),
        node("Einsum", "is not supported", [], [.string("equation", "iijk->ijk")]),
        node("Einsum", "has no extent", [], [.string("equation", "ijkl->ijkz")]),
        node(
            "Einsum", "more than", [floats(1 << 21)], [.string("equation", "a,b->ab")],
            input: [1 << 21]),
        node("ReduceProd", "product of more than 256", [], [.integers("axes", [0])], input: [300]),
        node("ReduceSum", "out of range", [integers(.max)]),
        node("Cast", "cast to type 8", [], [.integer("to", 8)]),
        node("Cast", "cast to type", [], [.integer("to", .min)]),
        node("Dropout", "training_mode", [floats(1, []), integers(1, shape: [])]),
        node("QuantizeLinear", "do not fit", [floats(3)]),
    ]

    /// A model of constants alone, which are computed when it is read.
    private static func constants(
        _ operation: String, _ words: String, _ inputs: [ONNXTensorProto],
        _ attributes: [ONNXAttributeProto] = []
    ) -> RefusedModel {
        RefusedModel("\(operation) of constants: \(words)", words) {
            var maker = ModelMaker()
            for (index, constant) in inputs.enumerated() {
                var constant = constant
                constant.name = "c\(index)"
                maker.proto.graph.initializer.append(constant)
            }
            maker.node(operation, inputs.indices.map { "c\($0)" }, ["z"], attributes)
            maker.node("Add", ["x", "z"], ["y"])
            return maker
        }
    }

    /// A tensor of int64, for the value of ConstantOfShape.
    private static var one: ONNXAttributeProto {
        var attribute = ONNXAttributeProto()
        (attribute.name, attribute.type, attribute.t) = ("value", .tensor, .integers("", [1]))
        return attribute
    }

    /// What small files make large.
    static let constants: [RefusedModel] = [
        constants("ConstantOfShape", "too large", [integers(1 << 14, 1 << 14)], [one]),
        constants("ConstantOfShape", "more than", [integers(1 << 30, 1 << 30)], [one]),
        constants("ConstantOfShape", "is not a shape", [integers(-1)], [one]),
        constants("Expand", "too large", [integers(1), integers(1 << 14, 1 << 14)]),
        constants("Tile", "too large", [integers(1, 2), integers(1 << 28)]),
        constants(
            "Range", "too large",
            [
                integers(0, shape: []), integers(1 << 39, shape: []), integers(1, shape: []),
            ]),
        constants(
            "Range", "is not a valid range",
            [
                integers(0, shape: []), integers(.max, shape: []), integers(1, shape: []),
            ]),
        constants(
            "Range", "is not a valid range",
            [
                integers(0, shape: []), integers(9, shape: []), integers(0, shape: []),
            ]),
        constants(
            "Range", "empty",
            [
                .floats("", [3e38], []), .floats("", [-3e38], []), .floats("", [1e-3], []),
            ]),
        constants(
            "Add", "too large", [floats(1 << 13, [1, 1 << 13]), floats(1 << 13, [1 << 13, 1])]),
        constants("Div", "give no int64", [integers(1), integers(0)]),
        constants("Div", "give no int64", [integers(.min), integers(-1)]),
        constants("Add", "give no int64", [integers(.max), integers(1)]),
        constants("Mul", "give no int64", [integers(.max), integers(.max)]),
        constants("Pow", "give no int64", [integers(10), integers(40)]),
        constants("Mod", "no remainder", [integers(1), integers(0)]),
        constants("Cast", "is not a valid int64", [.floats("", [.nan])], [.integer("to", 7)]),
        constants("Cast", "is not a valid uint8", [integers(300)], [.integer("to", 2)]),
        constants("Equal", "meets", [integers(1), floats(1)]),
        constants(
            "Where", "broadcast together",
            [
                integers(1, 1, shape: [2]), integers(1, 2, 3), integers(1, 2, 3),
            ]),
        constants(
            "Concat", "different ranks", [integers(1), integers(1, shape: [1, 1])],
            [.integer("axis", 0)]),
        constants(
            "Concat", "axis 0 is out of range for rank 0", [integers(1, shape: [])],
            [.integer("axis", 0)]),
        constants(
            "DequantizeLinear", "axis 1 is out of range", [integers(1, shape: []), floats(2)]),
        constants(
            "DequantizeLinear", "do not fit", [integers(1, 1, shape: [1, 2]), floats(3)],
            [.integer("block_size", .max)]),
    ]
}
