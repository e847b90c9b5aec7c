import RetintGraph
import RetintMLPackage

/// `transpose`.
extension Transpose: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        return lowering.add("transpose", ["x": x, "perm": .integers(permutation)], node)
    }

    package static let milTypes = ["transpose"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let permutation = try operation.requiredIntegers("perm", count: x.shape.rank)
        return [x.transposed(try operation.axes(permutation, rank: x.shape.rank))]
    }
}
