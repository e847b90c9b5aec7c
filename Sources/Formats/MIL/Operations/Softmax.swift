import RetintGraph
import RetintMLPackage

/// `softmax`.
extension Softmax: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        let axis = Int32(axis < 0 ? axis + node.shape.rank : axis)
        return lowering.add("softmax", ["x": x, "axis": .constant(.integer(axis))], node)
    }

    package static let milTypes = ["softmax"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        return [softmax(x, axis: try operation.axis("axis", rank: x.shape.rank, default: -1))]
    }
}

/// x − max − log Σ exp(x − max): MIL has no operation for it, and the logarithm of `softmax`
/// underflows for small probabilities.
extension LogSoftmax: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let axis = axis < 0 ? axis + node.shape.rank : axis
        var kept = node.shape
        kept[axis] = 1
        let x = try lowering.operand(node.inputs[0])
        let largest = lowering.add(
            "reduce_max", Reductions.parameters(x, [axis], keepDims: true), node, shape: kept)
        let centered = lowering.add("sub", ["x": x, "y": .name(largest)], node)
        let powers = lowering.add("exp", ["x": .name(centered)], node)
        let total = lowering.add(
            "reduce_sum", Reductions.parameters(.name(powers), [axis], keepDims: true), node,
            shape: kept)
        let epsilon = try lowering.float(0, name: node.name)
        let logarithm = lowering.add(
            "log", ["x": .name(total), "epsilon": epsilon], node, shape: kept)
        return lowering.add("sub", ["x": .name(centered), "y": .name(logarithm)], node)
    }
}
