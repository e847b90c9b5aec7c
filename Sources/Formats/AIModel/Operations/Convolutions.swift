import RetintGraph
import RetintMLPackage
import RetintTensors

/// Convolutions. Those of the dialect have neither padding nor bias.
enum Convolutions: OperationFamily {
    static let writers: [String: OperationWriter] = [
        "conv": { graph, operation in
            let (x, weight) = try (operation.value("x"), operation.value("weight"))
            try graph.requireImages(x, weight)
            let window = try operation.window(
                Shape(x.shape), kernel: Pair(weight.shape[2], weight.shape[3]))
            let padded = try graph.padded(x, window.padding, with: 0)
            let groups = try operation.integer("groups", default: 1)
            let product = try graph.add(
                "primitive.conv2d_v1",
                [
                    padded, weight, try graph.unsigned(window.stride.sides),
                    try graph.unsigned(window.dilation.sides), try graph.groups(groups),
                ], operation.type)
            return [try graph.adding(try operation.constant("bias"), to: product)]
        },
        "conv_transpose": { graph, operation in
            let transposed = try TransposedConvolution(operation, graph)
            let product = try transposed.write(to: graph)
            return [try graph.adding(try operation.constant("bias"), to: product)]
        },
    ]

    static let readers: [String: OperationReader] = [
        "primitive.conv2d_v1": { graph, operation in
            let (x, padding) = graph.withoutPadding(try operation.value(0))
            return [
                try graph.add(
                    "conv",
                    [
                        "x": graph.operand(x), "weight": operation.operand(1),
                        "strides": .integers(try operation.integers(2, count: 2)),
                        "dilations": .integers(try operation.integers(3, count: 2)),
                        "groups": .constant(.integer(try operation.integer(4))),
                        "pad_type": .constant(.string("custom")), "pad": .integers(padding),
                    ], operation)
            ]
        },
        "primitive.conv_transpose2d_v1": { graph, operation in
            let padding = try operation.integers(3, count: 2)
            let shape = try operation.shape()
            return [
                try graph.add(
                    "conv_transpose",
                    [
                        "x": operation.operand(0), "weight": operation.operand(1),
                        "strides": .integers(try operation.integers(2, count: 2)),
                        "dilations": .integers(try operation.integers(4, count: 2)),
                        "groups": .constant(.integer(try operation.integer(6))),
                        "pad_type": .constant(.string("custom")),
                        "pad": .integers(padding.flatMap { [$0, $0] }),
                        "output_shape": .integers(shape),
                    ], operation)
            ]
        },
    ]
}

extension Pair {
    var sides: [Int] { [height, width] }
}

extension GraphWriter {
    func requireImages(_ values: WrittenValue...) throws {
        for value in values where value.shape.count != 4 {
            throw NotWritable("only two spatial dimensions are written, not \(value.type)")
        }
    }

    fileprivate func groups(_ groups: Int) throws -> WrittenValue {
        try constant(.uint32([UInt32(clamping: groups)], shape: []))
    }

    /// Adds a bias of one value for each channel.
    fileprivate func adding(
        _ bias: MILValue?, to x: WrittenValue
    ) throws -> WrittenValue {
        guard var bias else { return x }
        bias.type = MILTensorType(bias.type.dataType, [1, x.shape[1], 1, 1])
        return try combined("add", x, try constant(bias))
    }
}

/// A transposed convolution, whose result the padding crops and the output padding extends.
private struct TransposedConvolution {
    private let x: WrittenValue
    private let weight: WrittenValue
    private let window: Window
    private let groups: Int
    private let type: MILTensorType
    /// The size of the result without padding.
    private let full: Pair
    /// The product of two such sides fits an Int.
    private static let largestSide = 1 << 30

    init(_ operation: WrittenOperation, _ graph: GraphWriter) throws {
        (x, weight) = try (operation.value("x"), operation.value("weight"))
        try graph.requireImages(x, weight)
        type = operation.type
        groups = try operation.integer("groups", default: 1)
        var axes = try operation.unpaddedAxes(Array(weight.shape[2...]))
        switch try operation.string("pad_type", default: "valid") {
        case "valid": break
        case "custom": try operation.pad(&axes)
        case let other: throw NotWritable("a conv_transpose with pad_type \(other) is not written")
        }
        window = Window.image(axes).window
        let kernel = Pair(weight.shape[2], weight.shape[3])
        let sides = x.shape[2...] + weight.shape[2...] + window.stride.sides + window.dilation.sides
        guard type.shape?.count == 4, sides.allSatisfy({ (0...Self.largestSide).contains($0) })
        else { throw NotWritable("a conv_transpose of open or of huge sizes is not written") }
        full = Pair(
            (x.shape[2] - 1) * window.stride.height + window.dilation.height * (kernel.height - 1)
                + 1,
            (x.shape[3] - 1) * window.stride.width + window.dilation.width * (kernel.width - 1) + 1)
    }

    func write(to graph: GraphWriter) throws -> WrittenValue {
        let (shape, padding) = (type.shape ?? [], window.padding)
        let extra = [
            shape[2] - (full.height - 2 * padding.top), shape[3] - (full.width - 2 * padding.left),
        ]
        if zip(extra, window.stride.sides).allSatisfy({ $0 >= 0 && $0 < $1 }) {
            return try write(to: graph, [padding.top, padding.left], extra, shape)
        }
        let whole = [shape[0], shape[1], full.height, full.width]
        let result = try write(to: graph, [0, 0], [0, 0], whole)
        let begin = [0, 0, padding.top, padding.left]
        let end = zip(begin, shape).map { $0 + $1 }
        guard zip(end, whole).allSatisfy({ $0 <= $1 }) else {
            throw NotWritable("a transposed convolution that ends beyond its full extent")
        }
        return try graph.sliced(result, from: begin, to: end)
    }

    private func write(
        to graph: GraphWriter, _ padding: [Int], _ extra: [Int], _ shape: [Int]
    ) throws -> WrittenValue {
        try graph.add(
            "primitive.conv_transpose2d_v1",
            [
                x, weight, try graph.unsigned(window.stride.sides), try graph.unsigned(padding),
                try graph.unsigned(window.dilation.sides), try graph.unsigned(extra),
                try graph.groups(groups),
            ], x.type(shape))
    }
}
