import RetintMLPackage

/// `quantize` and `dequantize` of activations.
enum ActivationQuantization: OperationFamily {
    static let writers: [String: OperationWriter] = [
        "quantize": { graph, operation in
            let type = operation.type
            let grid = try QuantizationGrid(operation, integers: type.dataType)
            guard let limits = grid.limits else {
                throw NotWritable("quantizing to \(type.dataType) is not written")
            }
            return [
                try graph.composite(
                    "quantize_v2", grid.operands(in: graph), type
                ) { body, values in
                    let (scale, zero) = try grid.aligned(values, in: body)
                    let steps = try body.unary("round", body.combined("divide", values[0], scale))
                    let moved = try body.combined("add", steps, zero)
                    let raised = try body.combined(
                        "maximum", moved, body.number(limits.low, like: moved))
                    let code = try body.combined(
                        "minimum", raised, body.number(limits.high, like: raised))
                    return try body.cast(code, to: type.dataType)
                }
            ]
        },
        "dequantize": { graph, operation in
            let grid = try QuantizationGrid(
                operation, integers: operation.value("input").dataType)
            return [
                try graph.composite(
                    "dequantize_v2", grid.operands(in: graph), operation.type
                ) { body, values in
                    let (scale, zero) = try grid.aligned(values, in: body)
                    let code = try body.cast(values[0], to: scale.dataType)
                    return try body.combined("mul", body.combined("sub", code, zero), scale)
                }
            ]
        },
    ]

    static let readers: [String: OperationReader] = [
        "quantize_v1": quantization, "quantize_v2": quantization,
        "dequantize_v1": dequantization, "dequantize_v2": dequantization,
    ]

    private static let quantization: OperationReader = { graph, operation in
        var inputs = try parameters(operation)
        let type = try operation.type().dataType
        inputs["output_dtype"] = .constant(.string("\(type)"))
        return [try graph.add("quantize", inputs, operation)]
    }

    private static let dequantization: OperationReader = { graph, operation in
        [try graph.add("dequantize", try parameters(operation), operation)]
    }

    /// Operands: a tensor, scales, offsets of integers, offsets of floats, an axis or all axes.
    private static func parameters(_ operation: ReadOperation) throws -> [String: MILOperand] {
        let scale = try operation.constant(1)
        guard try operation.constant(3).floats().allSatisfy({ $0 == 0 }) else {
            throw operation.error("an offset of floats is not supported")
        }
        var inputs: [String: MILOperand] = [
            "input": try operation.operand(0), "scale": .constant(scale),
            "zero_point": .constant(try operation.constant(2)),
        ]
        if scale.type.rank > 0 { inputs["axis"] = .constant(.integer(try operation.integer(4))) }
        return inputs
    }
}

/// The scales and zero points of a quantization, for all elements or for each index of an axis.
private struct QuantizationGrid {
    private let input: WrittenValue
    private let scale: MILValue
    private let zero: MILValue
    /// The axis; nil if one scale is for all.
    private let axis: Int?
    private let integers: MILDataType

    init(_ operation: WrittenOperation, integers: MILDataType) throws {
        input = try operation.value("input")
        self.integers = integers
        guard let scale = try operation.constant("scale") else {
            throw NotWritable("its scale is missing")
        }
        self.scale = scale
        let count = scale.type.elementCount ?? 1
        let shape = scale.type.shape ?? []
        let zeros = try operation.constant("zero_point")?.integers()
        let all = zeros.map { $0.count == 1 ? [Int32](repeating: $0[0], count: count) : $0 }
        zero = .packed(
            all ?? [Int32](repeating: 0, count: count), shape: shape, as: integers)
        axis =
            scale.type.rank == 0
            ? nil : try operation.axis("axis", rank: input.shape.count)
    }

    /// The smallest and the largest integer.
    var limits: (low: Float, high: Float)? {
        switch integers {
        case .int8: (-128, 127)
        case .uint8: (0, 255)
        default: nil
        }
    }

    /// The tensor, scales, zero points, offsets of 0, and the axis or all axes.
    func operands(in graph: GraphWriter) throws -> [WrittenValue] {
        let none = [Float](repeating: 0, count: scale.type.elementCount ?? 1)
        return [
            input, try graph.constant(scale), try graph.constant(zero),
            try graph.constant(
                .floats(none, shape: scale.type.shape, as: scale.type.dataType)),
            try axis.map { try graph.constant(.integer(Int32($0))) }
                ?? graph.signed(Array(input.shape.indices)),
        ]
    }

    /// Scales and zero points as floats, along their axis.
    func aligned(
        _ values: [WrittenValue], in body: GraphWriter
    ) throws -> (scale: WrittenValue, zero: WrittenValue) {
        var shape = [Int](repeating: 1, count: input.shape.count)
        if let axis { shape[axis] = scale.type.elementCount ?? 1 }
        return (
            try body.reshaped(values[1], shape),
            try body.reshaped(body.cast(values[2], to: values[1].dataType), shape)
        )
    }
}
