import RetintGraph
import RetintMLPackage
import RetintTensors

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
        let axes = try operation.slicedAxes(of: x.shape.dimensions)
        guard axes.stride.allSatisfy({ $0 >= 1 }) else {
            throw operation.error("strides below 1 are not supported")
        }
        let part = x.sliced(from: axes.begin, to: axes.end, stride: axes.stride)
        guard x.graph.error == nil, axes.squeezed.contains(true) else { return [part] }
        let kept = axes.squeezed.indices.filter { !axes.squeezed[$0] }.map { part.shape[$0] }
        return [part.reshaped(Shape(kept))]
    }
}
