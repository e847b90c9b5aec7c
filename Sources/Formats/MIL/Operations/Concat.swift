import RetintGraph
import RetintMLPackage

/// `concat`.
extension Concat: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        var names: [String] = []
        for input in node.inputs {
            if case .name(let name) = try lowering.operand(input) { names.append(name) }
        }
        let axis = Int32(axis < 0 ? axis + node.shape.rank : axis)
        return lowering.add(
            "concat",
            [
                "values": .names(names), "axis": .constant(.integer(axis)),
                "interleave": .constant(.bool(false)),
            ], node)
    }

    package static let milTypes = ["concat"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        // Numbers, such as sizes, are joined to a list.
        let values = try operation.tensors("values").map {
            $0.shape.rank == 0 ? $0.reshaped([1]) : $0
        }
        let axis = try operation.axis("axis", rank: values[0].shape.rank)
        guard try operation.bool("interleave", default: false) else {
            return [concat(values, axis: axis)]
        }
        return [try interleaved(values, axis: axis, operation)]
    }

    /// Interleaves along the axis: the first slice of each value, then the second of each.
    private static func interleaved(
        _ values: [Tensor], axis: Int, _ operation: RaisedOperation
    ) throws -> Tensor {
        guard values.allSatisfy({ $0.shape == values[0].shape }) else {
            throw operation.error("interleaving needs values of equal shape")
        }
        var (single, result) = (values[0].shape, values[0].shape)
        single.dimensions.insert(1, at: axis + 1)
        result[axis] *= values.count
        return concat(values.map { $0.reshaped(single) }, axis: axis + 1).reshaped(result)
    }
}
