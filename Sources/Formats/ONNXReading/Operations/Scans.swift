import RetintGraph

/// Running sums, and triangles and diagonals of matrices.
enum Scans: OperationFamily {
    static let rules: [String: OperationRule] = [
        "CumSum": OperationRule(sums),
        "Trilu": OperationRule(triangle),
        "EyeLike": OperationRule(diagonal),
    ]

    @Sendable private static func sums(_ node: NodeContext) throws -> [ONNXValue] {
        let value = try node.value(0)
        let axis = try node.axis(try node.integer(1), rank: value.dimensions.count)
        let isExclusive = try node.flag("exclusive")
        let isReverse = try node.flag("reverse")
        let x = try node.tensor(value)
        let size = x.shape[axis]
        let y = try node.product(x, axis: axis, to: size) { row in
            let before =
                isReverse
                ? (isExclusive ? row + 1 : row)..<size : 0..<(isExclusive ? row : row + 1)
            return before.map { ($0, 1) }
        }
        return [.tensor(y, value.type)]
    }

    /// The upper or lower triangle of the last two axes, and zeros.
    @Sendable private static func triangle(_ node: NodeContext) throws -> [ONNXValue] {
        let value = try node.value(0)
        let rank = value.dimensions.count
        guard rank >= 2 else { throw node.error("\(value.dimensions) is not a matrix") }
        let isUpper = try node.flag("upper", default: true)
        let offset = try node.optional(1).map { _ in try node.integer(1) } ?? 0
        let (rows, columns) = (value.dimensions[rank - 2], value.dimensions[rank - 1])
        try node.takeHost([rows, columns])
        let diagonal = Swift.min(Swift.max(offset, -rows), columns)
        let mask = (0..<rows).flatMap { row in
            (0..<columns).map { column in
                let isKept = isUpper ? column >= row + diagonal : column <= row + diagonal
                return isKept ? Int64(1) : 0
            }
        }
        let kept = ONNXTensor(.bool, [rows, columns], .int64(mask))
        guard case .host(let tensor) = value, case .int64(let values) = tensor.elements else {
            let x = try node.tensor(value)
            return [.tensor(select(try node.tensor(.host(kept)), x, x.scalar(0)), value.type)]
        }
        let masks = kept.broadcast(to: tensor.dimensions).integers ?? []
        let result = zip(values, masks).map { $0 * Int64($1) }
        return [.host(ONNXTensor(tensor.type, tensor.dimensions, .int64(result)))]
    }

    /// A matrix of the input's shape with ones on a diagonal.
    @Sendable private static func diagonal(_ node: NodeContext) throws -> [ONNXValue] {
        let value = try node.value(0)
        guard value.dimensions.count == 2 else {
            throw node.error("\(value.dimensions) is not a matrix")
        }
        let (rows, columns) = (value.dimensions[0], value.dimensions[1])
        try node.takeHost([rows, columns])
        let offset = try node.integer("k", default: 0)
        let type = try Casts.type(of: "dtype", default: value.type, node)
        let ones = (0..<rows).flatMap { row in
            (0..<columns).map { $0 - row == offset ? Int64(1) : 0 }
        }
        let eye = ONNXTensor(.int64, [rows, columns], .int64(ones))
        return [try Casts.cast(.host(eye), to: type, node)]
    }
}
