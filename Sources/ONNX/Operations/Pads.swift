import TensorGraph

/// `Pad`.
enum Pads: OperationFamily {
    static let rules: [String: OperationRule] = ["Pad": OperationRule(pad)]

    @Sendable private static func pad(_ node: NodeContext) throws -> [ONNXValue] {
        let value = try node.value(0)
        let rank = value.dimensions.count
        guard let amounts = try node.integers(1, or: "pads") else {
            throw node.error("it has no amounts", ONNXError.damaged)
        }
        let axes = try node.optional(3).map { _ in try node.axes(node.integers(3), rank: rank) }
            ?? Array(0..<rank)
        guard amounts.count == 2 * axes.count,
            amounts.allSatisfy({ Swift.abs($0) <= Shape.maximumExtent })
        else { throw node.error("\(amounts.prefix(8)) do not fit \(value.dimensions)") }
        var (before, after) = ([Int](repeating: 0, count: rank), [Int](repeating: 0, count: rank))
        for (index, axis) in axes.enumerated() {
            (before[axis], after[axis]) = (amounts[index], amounts[index + axes.count])
        }
        let mode = try node.string("mode", default: "constant")
        let cut = try cropped(node.tensor(0), &before, &after, node)
        let y = mode == "constant"
            ? cut.padded(before: before, after: after, value: try fill(node))
            : try (0..<rank).reduce(cut) { x, axis in
                let indices = indices(mode, x.shape[axis], before[axis], after[axis])
                guard let indices else {
                    throw node.error("\(amounts) with the mode \(mode.plain) does not fit \(x.shape)")
                }
                return x.picked(indices, axis: axis)
            }
        return [.tensor(y, value.type)]
    }

    private static func fill(_ node: NodeContext) throws -> Float {
        if node.optional(2) != nil { return try node.number(2) }
        return try node.float("value", default: 0)
    }

    /// Applies negative amounts, and makes them 0.
    private static func cropped(
        _ x: Tensor, _ before: inout [Int], _ after: inout [Int], _ node: NodeContext
    ) throws -> Tensor {
        guard (before + after).contains(where: { $0 < 0 }) else { return x }
        let begin = before.map { Swift.max(0, -$0) }
        let end = zip(x.shape.dimensions, after).map { $0 - Swift.max(0, -$1) }
        (before, after) = (before.map { Swift.max(0, $0) }, after.map { Swift.max(0, $0) })
        return x.sliced(from: begin, to: end)
    }

    /// The source of each element of a padded axis; nil if the mode does not allow the padding.
    private static func indices(
        _ mode: String, _ size: Int, _ before: Int, _ after: Int
    ) -> [Int]? {
        guard Swift.max(before, after) <= Picking.maximumCount else { return nil }
        let places = -before..<(size + after)
        switch mode {
        case "edge": return places.map { Swift.min(Swift.max($0, 0), size - 1) }
        case "wrap": return places.map { ($0 % size + size) % size }
        case "reflect":
            guard Swift.max(before, after) < size else { return nil }
            return places.map { $0 < 0 ? -$0 : $0 >= size ? 2 * (size - 1) - $0 : $0 }
        default: return nil
        }
    }
}
