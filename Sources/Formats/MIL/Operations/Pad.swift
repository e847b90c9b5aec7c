import RetintGraph
import RetintMLPackage

/// `pad`: lowered with a constant; the modes `replicate` and `reflect` can be raised too.
extension Pad: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let amounts = zip(before, after).flatMap { [$0, $1] }
        let x = try lowering.operand(node.inputs[0])
        return lowering.add("pad", try Self.milParameters(x, amounts, value, lowering), node)
    }

    static func milParameters(
        _ x: MILOperand, _ amounts: [Int], _ value: Float, _ lowering: MILLowering
    ) throws -> [String: MILOperand] {
        [
            "x": x, "pad": .integers(amounts), "mode": .constant(.string("constant")),
            "constant_val": try lowering.float(value, name: "padding"),
        ]
    }

    package static let milTypes = ["pad"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let mode = try operation.string("mode", default: "constant")
        let amounts = try operation.requiredIntegers("pad")
        let rank = x.shape.rank
        guard amounts.count % 2 == 0, amounts.count <= 2 * rank else {
            throw operation.error("\(amounts.count) amounts do not fit rank \(rank)")
        }
        let all = [Int](repeating: 0, count: 2 * rank - amounts.count) + amounts
        guard mode != "constant" else {
            return [
                x.padded(
                    before: (0..<rank).map { all[2 * $0] },
                    after: (0..<rank).map { all[2 * $0 + 1] },
                    value: try operation.float("constant_val", default: 0))
            ]
        }
        return [
            try (0..<rank).reduce(x) { padded, axis in
                let indices = indices(mode, x.shape[axis], all[2 * axis], all[2 * axis + 1])
                guard let indices else {
                    throw operation.error(
                        "\(amounts) with the mode \"\(mode)\" does not fit \(x.shape)")
                }
                return padded.picked(indices, axis: axis)
            }
        ]
    }

    /// The source index of each element of a padded axis; nil if the mode does not
    /// allow the padding.
    private static func indices(
        _ mode: String, _ size: Int, _ before: Int, _ after: Int
    ) -> [Int]? {
        guard min(before, after) >= 0, max(before, after) <= 1 << 12 else { return nil }
        let own = Array(0..<size)
        switch mode {
        case "replicate":
            return [Int](repeating: 0, count: before) + own
                + [Int](repeating: size - 1, count: after)
        case "reflect":
            guard max(before, after) < size else { return nil }
            return own[1..<(before + 1)].reversed() + own
                + own[(size - 1 - after)..<(size - 1)].reversed()
        default: return nil
        }
    }
}
