import RetintGraph
import RetintMLPackage
import RetintTensors

/// `scatter_along_axis`, to zeros.
extension ScatterElements: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let zeros = lowering.add(
            "fill",
            [
                "shape": .integers(shape.dimensions),
                "value": try lowering.float(0, name: node.name),
            ], node)
        let updates = try lowering.operand(node.inputs[0])
        return lowering.add(
            "scatter_along_axis",
            [
                "data": .name(zeros), "updates": updates,
                "indices": try lowering.indices(node.inputs[1], of: node, below: shape[axis]),
                "axis": .constant(.integer(Int32(axis))), "mode": .constant(.string("add")),
            ], node)
    }
}

/// `scatter`, `scatter_along_axis` and `scatter_nd`, in the modes that replace, add and subtract.
enum Scatter: MILRaisable {
    static let milTypes = ["scatter", "scatter_along_axis", "scatter_nd"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (data, updates) = try (operation.tensor("data"), operation.tensor("updates"))
        let indices = try operation.tensor("indices")
        let mode = try operation.string(
            "mode", default: operation.type == "scatter" ? "update" : "add")
        switch operation.type {
        case "scatter_nd":
            let tuples = try RowTuples(indices, of: data.shape)
            let rows = tuples.flattened(data)
            let width = rows.shape[1]
            let count = tuples.positions.shape[0]
            guard updates.shape.count == count * width else {
                throw operation.error("updates of \(updates.shape) do not fit \(data.shape)")
            }
            let places = tuples.positions.reshaped([count, 1]).broadcast(to: [count, width])
            let result = try scattered(
                rows, updates.reshaped([count, width]), places, axis: 0, mode, operation)
            return [result.reshaped(data.shape)]
        case "scatter":
            let axis = try operation.axis("axis", rank: data.shape.rank, default: 0)
            var spread = [Int](repeating: 1, count: data.shape.rank)
            spread[axis] = indices.shape.count
            let places = indices.reshaped(Shape(spread)).broadcast(to: updates.shape)
            return [try scattered(data, updates, places, axis: axis, mode, operation)]
        default:
            let axis = try operation.axis("axis", rank: data.shape.rank, default: 0)
            return [try scattered(data, updates, indices, axis: axis, mode, operation)]
        }
    }

    private static func scattered(
        _ data: Tensor, _ updates: Tensor, _ indices: Tensor, axis: Int, _ mode: String,
        _ operation: RaisedOperation
    ) throws -> Tensor {
        guard indices.shape == updates.shape else {
            throw operation.error(
                "indices of \(indices.shape) do not fit updates of \(updates.shape)")
        }
        switch mode {
        case "add": return scatterAdd(data, axis: axis, indices: indices, updates)
        case "sub": return scatterAdd(data, axis: axis, indices: indices, -updates)
        case "update": return RetintGraph.scatter(data, axis: axis, indices: indices, updates)
        default: throw operation.error("the mode \"\(mode)\" is not supported")
        }
    }
}
