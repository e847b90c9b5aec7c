import RetintMLPackage

/// Shapes, and reshaping.
enum Shapes: OperationFamily {
    static let writers: [String: OperationWriter] = [
        "identity": { _, operation in [try operation.value("x")] },
        "reshape": { graph, operation in
            [try graph.reshaped(try operation.value("x"), operation.type.shape ?? [])]
        },
        "expand_dims": { graph, operation in
            [try graph.reshaped(try operation.value("x"), operation.type.shape ?? [])]
        },
        "squeeze": { graph, operation in
            [try graph.reshaped(try operation.value("x"), operation.type.shape ?? [])]
        },
        "transpose": { graph, operation in
            let x = try operation.value("x")
            let order = try operation.requiredIntegers("perm", count: x.shape.count)
            return [
                try graph.transposed(
                    x, try operation.axes(order, rank: x.shape.count))
            ]
        },
        "tile": { graph, operation in
            let x = try operation.value("x")
            let counts = try operation.requiredIntegers("reps", count: x.shape.count)
            let spread = try graph.reshaped(x, x.shape.flatMap { [1, $0] })
            let repeated = try graph.broadcast(
                spread, to: zip(counts, x.shape).flatMap { [$0, $1] })
            return [try graph.reshaped(repeated, operation.type.shape ?? [])]
        },
    ]

    static let readers: [String: OperationReader] = [
        "primitive.reshape_v1": reshaping, "primitive.reshape_v2": reshaping,
        "primitive.expand_dims_v1": reshaping, "primitive.shrink_dims_v1": reshaping,
        "primitive.broadcast_in_dims_v1": repeating, "primitive.broadcast_to_v1": repeating,
        "tile_v1": repeating, "tile_v2": repeating,
        "primitive.transpose_v1": { graph, operation in
            [
                try graph.add(
                    "transpose",
                    ["x": operation.operand(0), "perm": .integers(try operation.integers(1))],
                    operation)
            ]
        },
    ]

    private static let reshaping: OperationReader = { graph, operation in
        let shape = try operation.shape()
        guard !shape.isEmpty else { return [try graph.scalar(operation)] }
        return [
            try graph.add(
                "reshape", ["x": operation.operand(0), "shape": .integers(shape)], operation)
        ]
    }

    private static let repeating: OperationReader = { graph, operation in
        [try graph.repeated(try operation.value(0), operation)]
    }
}

extension GraphWriter {
    func reshaped(_ x: WrittenValue, _ shape: [Int]) throws -> WrittenValue {
        guard x.shape != shape else { return x }
        return try add("primitive.reshape_v2", [x, try signed(shape)], x.type(shape))
    }

    func transposed(_ x: WrittenValue, _ order: [Int]) throws -> WrittenValue {
        try add(
            "primitive.transpose_v1", [x, try unsigned(order)], x.type(order.map { x.shape[$0] }))
    }
}

extension GraphReader {
    /// A tensor of one element as a scalar, which MIL has no reshape to.
    fileprivate func scalar(_ operation: ReadOperation) throws -> ReadValue {
        let x = try operation.value(0)
        if case .constant(let constant) = x {
            return .constant(
                ReadConstant(
                    MILValue(
                        type: MILTensorType(constant.value.type.dataType),
                        content: constant.value.content)))
        }
        return try add("squeeze", ["x": operation.operand(0)], operation)
    }

    /// Repeats a tensor along axes, after adding those that are missing.
    fileprivate func repeated(
        _ x: ReadValue, _ operation: ReadOperation
    ) throws -> ReadValue {
        let (shape, own) = (try operation.shape(), x.type.shape ?? [])
        guard own.count <= shape.count, !shape.isEmpty else {
            throw operation.error("\(x.type) cannot be repeated to \(shape)")
        }
        let aligned = [Int](repeating: 1, count: shape.count - own.count) + own
        guard zip(shape, aligned).allSatisfy({ $1 > 0 && $0 % $1 == 0 }) else {
            throw operation.error("\(x.type) cannot be repeated to \(shape)")
        }
        var operand = try operation.operand(0)
        if aligned != own {
            operand = self.operand(
                try add(
                    "reshape", ["x": operand, "shape": .integers(aligned)], operation,
                    as: MILTensorType(x.type.dataType, aligned)))
        }
        let counts = zip(shape, aligned).map { $0 / $1 }
        return try add("tile", ["x": operand, "reps": .integers(counts)], operation)
    }
}
