import MLPackage
import TensorGraph

/// `slice_by_index`; an axis that is sliced to its end sets `end_mask`.
extension Slice: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let toEnd = end.indices.map { end[$0] == node.inputShapes[0][$0] }
        let none = MILOperand.bools(false, count: begin.count)
        return lowering.add(
            "slice_by_index",
            [
                "x": try lowering.operand(node.inputs[0]), "begin": .integers(begin),
                "end": .integers(endIndices(toEnd, lowering)),
                "stride": .integers(stride), "begin_mask": none,
                "end_mask": .constant(.bools(toEnd)), "squeeze_mask": none,
            ], node)
    }

    /// The end of each axis; 0 for axes that `end_mask` covers in a program for flexible sizes.
    private func endIndices(_ toEnd: [Bool], _ lowering: MILLowering) -> [Int] {
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
            begin[axis] = fromStart[axis] ? 0 : normalized(begin[axis], size)
            end[axis] = toEnd[axis] ? size : min(normalized(end[axis], size), size)
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

    /// A nonnegative index; negative ones count from the end.
    private static func normalized(_ index: Int, _ size: Int) -> Int {
        index < 0 ? index + size : index
    }
}
