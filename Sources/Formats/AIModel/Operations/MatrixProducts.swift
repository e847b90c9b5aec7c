import RetintMLPackage

/// Products of matrices.
enum MatrixProducts: OperationFamily {
    static let writers: [String: OperationWriter] = [
        "matmul": { graph, operation in
            var (x, y) = try (operation.value("x"), operation.value("y"))
            if try operation.bool("transpose_x", default: false) {
                x = try graph.flipped(x)
            }
            if try operation.bool("transpose_y", default: false) {
                y = try graph.flipped(y)
            }
            return [try graph.product(x, y, operation.type)]
        },
        "linear": { graph, operation in
            let x = try operation.value("x")
            let weight = try graph.flipped(try operation.value("weight"))
            let rows = try graph.reshaped(
                x, [x.shape.dropLast().reduce(1, *), x.shape.last ?? 1])
            let product = try graph.product(
                rows, weight, x.type([rows.shape[0], weight.shape[1]]))
            let result = try graph.reshaped(product, operation.type.shape ?? [])
            guard let bias = try operation.optionalValue("bias") else { return [result] }
            return [try graph.combined("add", result, bias)]
        },
    ]

    static let readers: [String: OperationReader] = [
        "primitive.batch_matmul_v1": product, "broadcasting_batch_matmul_v1": product,
    ]

    private static let product: OperationReader = { graph, operation in
        [
            try graph.add(
                "matmul",
                [
                    "x": operation.operand(0), "y": operation.operand(1),
                    "transpose_x": .constant(.bool(false)), "transpose_y": .constant(.bool(false)),
                ], operation)
        ]
    }
}

extension GraphWriter {
    /// Exchanges the last two axes.
    fileprivate func flipped(_ x: WrittenValue) throws -> WrittenValue {
        let rank = x.shape.count
        guard rank > 1 else { throw NotWritable("a product of vectors is not written") }
        return try transposed(x, Array(0..<rank - 2) + [rank - 1, rank - 2])
    }

    fileprivate func product(
        _ x: WrittenValue, _ y: WrittenValue, _ type: MILTensorType
    ) throws -> WrittenValue {
        let batch = Array((type.shape ?? []).dropLast(2))
        guard min(x.shape.count, y.shape.count) > 1 else {
            throw NotWritable("a product of vectors is not written")
        }
        let operands = try [x, y].map { try broadcast($0, to: batch + $0.shape.suffix(2)) }
        return try add("primitive.batch_matmul_v1", operands, type)
    }
}
