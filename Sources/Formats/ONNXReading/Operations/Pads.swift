import RetintGraph
import RetintTensors

/// `Pad`.
enum Pads: OperationFamily {
    static let rules: [String: OperationRule] = ["Pad": OperationRule(pad)]

    @Sendable private static func pad(_ node: NodeContext) throws -> [ONNXValue] {
        let value = try node.value(0)
        let rank = value.dimensions.count
        guard let amounts = try node.integers(1, or: "pads") else {
            throw node.error("it has no amounts", ONNXError.damaged)
        }
        let axes =
            try node.optional(3).map { _ in try node.axes(node.integers(3), rank: rank) }
            ?? Array(0..<rank)
        guard amounts.count == 2 * axes.count,
            amounts.allSatisfy({ (-Shape.maximumExtent...Shape.maximumExtent).contains($0) })
        else { throw node.error("\(amounts.prefix(8)) do not fit \(value.dimensions)") }
        var (before, after) = ([Int](repeating: 0, count: rank), [Int](repeating: 0, count: rank))
        for (index, axis) in axes.enumerated() {
            (before[axis], after[axis]) = (amounts[index], amounts[index + axes.count])
        }
        let mode = try node.string("mode", default: "constant")
        let cut = try cropped(node.tensor(0), &before, &after, node)
        guard mode != "constant" else {
            let y = cut.padded(before: before, after: after, value: try fill(node))
            return [.tensor(y, value.type)]
        }
        let y = try (0..<rank).reduce(cut) { x, axis in
            try extended(x, axis, mode, before[axis], after[axis], node)
        }
        return [.tensor(y, value.type)]
    }

    private static func fill(_ node: NodeContext) throws -> Float {
        if node.optional(2) != nil { return try node.number(2) }
        return try node.float("value", default: 0)
    }

    /// Applies negative amounts and sets them to 0.
    private static func cropped(
        _ x: Tensor, _ before: inout [Int], _ after: inout [Int], _ node: NodeContext
    ) throws -> Tensor {
        guard (before + after).contains(where: { $0 < 0 }) else { return x }
        let begin = before.map { Swift.max(0, -$0) }
        let end = zip(x.shape.dimensions, after).map { $0 - Swift.max(0, -$1) }
        (before, after) = (before.map { Swift.max(0, $0) }, after.map { Swift.max(0, $0) })
        return x.sliced(from: begin, to: end)
    }

    /// An axis padded at both ends with its own elements.
    private static func extended(
        _ x: Tensor, _ axis: Int, _ mode: String, _ before: Int, _ after: Int, _ node: NodeContext
    ) throws -> Tensor {
        guard before > 0 || after > 0 else { return x }
        let size = x.shape[axis]
        guard Swift.max(before, after) <= Picking.maximumCount,
            let source = source(mode, size, Swift.max(before, after))
        else {
            throw node.error(
                "\(before) and \(after) with the mode \(mode.plain) do not fit \(x.shape)")
        }
        var parts = [x]
        if before > 0 { parts.insert(x.picked((-before..<0).map(source), axis: axis), at: 0) }
        if after > 0 { parts.append(x.picked((size..<size + after).map(source), axis: axis)) }
        return concat(parts, axis: axis)
    }

    /// The element that a position outside an axis repeats; nil if the mode does not reach that
    /// far.
    private static func source(_ mode: String, _ size: Int, _ reach: Int) -> ((Int) -> Int)? {
        switch mode {
        case "edge": return { $0 < 0 ? 0 : size - 1 }
        case "wrap": return { ($0 % size + size) % size }
        case "reflect" where reach < size: return { $0 < 0 ? -$0 : 2 * (size - 1) - $0 }
        default: return nil
        }
    }
}
