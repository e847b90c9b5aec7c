import MLPackage
import TensorGraph

/// `pad` with a constant, raised also with the edge or a mirror image.
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
                let places = places(mode, x.shape[axis], all[2 * axis], all[2 * axis + 1])
                guard let places else {
                    throw operation.error(
                        "\(amounts) with the mode \"\(mode)\" does not fit \(x.shape)")
                }
                return padded.picked(places, axis: axis)
            }
        ]
    }

    /// Which elements of an axis stand where, with what is added; nil where there are none.
    private static func places(
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

/// `slice_by_index`; an axis that is taken to its end says so, whatever its extent.
extension Slice: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let toEnd = end.indices.map { end[$0] == node.inputShapes[0][$0] }
        let none = MILOperand.bools(false, count: begin.count)
        return lowering.add(
            "slice_by_index",
            [
                "x": try lowering.operand(node.inputs[0]), "begin": .integers(begin),
                "end": .integers(written(toEnd, lowering)),
                "stride": .integers(stride), "begin_mask": none,
                "end_mask": .constant(.bools(toEnd)), "squeeze_mask": none,
            ], node)
    }

    /// Where an axis ends, unless that is marked and the size is not to be written.
    private func written(_ toEnd: [Bool], _ lowering: MILLowering) -> [Int] {
        end.indices.map { toEnd[$0] && lowering.options.isFlexible ? 0 : end[$0] }
    }

    package static let milTypes = ["slice_by_index"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let rank = x.shape.rank
        var begin = try operation.requiredIntegers("begin", count: rank)
        var end = try operation.requiredIntegers("end", count: rank)
        var stride = try operation.integers("stride", count: rank, default: 1)
        let fromStart = try operation.bools("begin_mask", count: rank)
        let toEnd = try operation.bools("end_mask", count: rank)
        let squeezed = try operation.bools("squeeze_mask", count: rank)
        for axis in 0..<rank {
            let size = x.shape[axis]
            begin[axis] = fromStart[axis] ? 0 : counted(begin[axis], size)
            end[axis] = toEnd[axis] ? size : min(counted(end[axis], size), size)
            if squeezed[axis] { (end[axis], stride[axis]) = (begin[axis] + 1, 1) }
        }
        guard stride.allSatisfy({ $0 >= 1 }) else {
            throw operation.error("strides below 1 are not supported")
        }
        let part = x.sliced(from: begin, to: end, stride: stride)
        guard x.graph.error == nil, squeezed.contains(true) else { return [part] }
        let kept = (0..<rank).filter { !squeezed[$0] }.map { part.shape[$0] }
        return [part.reshaped(Shape(kept))]
    }

    /// A place counted from the start.
    private static func counted(_ place: Int, _ size: Int) -> Int {
        place < 0 ? place + size : place
    }
}

/// `crop`: rows and columns off the last two axes.
enum CropRule: MILRaisable {
    static let milTypes = ["crop"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let rows = try operation.requiredIntegers("crop_height", count: 2)
        let columns = try operation.requiredIntegers("crop_width", count: 2)
        guard x.shape.rank >= 2 else { throw operation.error("two axes are needed") }
        let lead = [Int](repeating: 0, count: x.shape.rank - 2)
        var end = x.shape.dimensions
        end[end.count - 2] -= rows[1]
        end[end.count - 1] -= columns[1]
        return [x.sliced(from: lead + [rows[0], columns[0]], to: end)]
    }
}

/// `split`: parts of equal or of given sizes.
enum SplitRule: MILRaisable {
    static let milTypes = ["split"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let axis = try operation.axis("axis", rank: x.shape.rank)
        let sizes = try sizes(operation, whole: x.shape[axis])
        guard sizes.allSatisfy({ $0 > 0 && $0 <= x.shape[axis] }),
            sizes.reduce(0, +) == x.shape[axis]
        else { throw operation.error("parts \(sizes) do not make up axis \(axis) of \(x.shape)") }
        var start = 0
        return sizes.map { size in
            defer { start += size }
            return x.sliced(axis: axis, start..<(start + size))
        }
    }

    private static func sizes(_ operation: RaisedOperation, whole: Int) throws -> [Int] {
        if let sizes = try operation.integers("split_sizes") { return sizes }
        let count = try operation.integer("num_splits")
        guard count >= 1, count <= whole, whole % count == 0 else {
            throw operation.error("\(whole) cannot be split into \(count) equal parts")
        }
        return [Int](repeating: whole / count, count: count)
    }
}
