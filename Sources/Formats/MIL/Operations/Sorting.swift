import RetintGraph
import RetintMLPackage
import RetintTensors

/// `reduce_argmax` for one index, else the first of `argsort`.
extension TopIndices: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        let along = MILOperand.constant(.integer(Int32(axis)))
        guard count > 1 else {
            let largest = lowering.addWhole(
                "reduce_argmax", ["x": x, "axis": along, "keep_dims": .constant(.bool(true))], node,
                shape: node.shape)
            return try lowering.addFloats(of: largest, node, below: node.inputShapes[0][axis])
        }
        let whole = node.inputShapes[0]
        var order = lowering.addWhole(
            "argsort", ["x": x, "axis": along, "ascending": .constant(.bool(false))], node,
            shape: whole)
        if count < whole[axis] {
            let none = MILOperand.bools(false, count: whole.rank)
            order = lowering.addWhole(
                "slice_by_index",
                [
                    "x": .name(order), "begin": .integers(whole.dimensions.map { _ in 0 }),
                    "end": .integers(node.shape.dimensions),
                    "stride": .integers(whole.dimensions.map { _ in 1 }), "begin_mask": none,
                    "end_mask": none, "squeeze_mask": none,
                ], node, shape: node.shape)
        }
        return try lowering.addFloats(of: order, node, below: whole[axis])
    }
}

/// `topk`, `argsort`, `reduce_argmax` and `reduce_argmin`.
enum Sorting: MILRaisable {
    static let milTypes = ["argsort", "reduce_argmax", "reduce_argmin", "topk"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let axis = try operation.axis("axis", rank: x.shape.rank, default: -1)
        switch operation.type {
        case "argsort":
            let isAscending = try operation.bool("ascending", default: false)
            return [topIndices(isAscending ? -x : x, x.shape[axis], axis: axis)]
        case "topk":
            let count = try operation.integer("k", default: 1)
            let isAscending = try operation.bool("ascending", default: false)
            let indices = topIndices(isAscending ? -x : x, count, axis: axis)
            let values = gather(x, axis: axis, indices: indices)
            let both = try operation.bool("return_indices", default: true)
            return both ? [values, indices] : [values]
        default:
            let indices = topIndices(
                operation.type == "reduce_argmin" ? -x : x, 1, axis: axis)
            guard try !operation.bool("keep_dims", default: false) else { return [indices] }
            return [indices.sum(axes: [axis])]
        }
    }
}
