import RetintGraph
import RetintMLPackage
import RetintTensors

/// `tile`.
extension Broadcast: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let source = node.inputShapes[0]
        let missing = [Int](repeating: 1, count: shape.rank - source.rank)
        let padded = Shape(missing + source.dimensions)
        var x = try lowering.operand(node.inputs[0])
        if padded != source {
            let inputs = ["x": x, "shape": MILOperand.integers(padded.dimensions)]
            x = .name(lowering.add("reshape", inputs, node, shape: padded))
        }
        let repetitions = shape.dimensions.indices.map { shape[$0] / padded[$0] }
        return lowering.add("tile", ["x": x, "reps": .integers(repetitions)], node)
    }

    package static let milTypes = ["tile"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let repetitions = try operation.requiredIntegers("reps", count: x.shape.rank)
        let bounded = repetitions.map { min($0, Shape.largestCount + 1) }
        guard Shape(zip(bounded, x.shape.dimensions).map { $0 * $1 }).boundedCount != nil else {
            throw operation.error("the repetitions \(repetitions) are out of range")
        }
        return [repetitions.indices.reduce(x) { repeated($0, repetitions[$1], axis: $1) }]
    }

    /// Repeats a tensor along one axis; needs a reshape if the extent is above 1.
    private static func repeated(_ x: Tensor, _ count: Int, axis: Int) -> Tensor {
        guard count > 1 else { return x }
        var (single, copies, result) = (x.shape, x.shape, x.shape)
        single.dimensions.insert(1, at: axis)
        copies.dimensions.insert(count, at: axis)
        result[axis] *= count
        if x.shape[axis] == 1 { return x.broadcast(to: result) }
        return x.reshaped(single).broadcast(to: copies).reshaped(result)
    }
}
