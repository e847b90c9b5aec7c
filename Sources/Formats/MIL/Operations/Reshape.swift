import RetintGraph
import RetintMLPackage
import RetintTensors

/// `reshape`, and `squeeze` to a scalar, which `reshape` does not write.
extension Reshape: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        guard shape.rank > 0 else {
            let axes = Array(0..<node.inputShapes[0].rank)
            return lowering.add("squeeze", ["x": x, "axes": .integers(axes)], node)
        }
        return lowering.add("reshape", ["x": x, "shape": .integers(shape.dimensions)], node)
    }

    package static let milTypes = ["reshape"]

    /// 0 keeps a dimension, −1 is computed from the number of elements.
    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        var shape = try operation.requiredIntegers("shape")
        for axis in shape.indices where shape[axis] == 0 && shape.count == x.shape.rank {
            shape[axis] = x.shape[axis]
        }
        let known = Shape(shape.filter { $0 != -1 }).boundedCount
        if let free = shape.firstIndex(of: -1), let known { shape[free] = x.shape.count / known }
        guard shape.allSatisfy({ $0 > 0 }), Shape(shape).boundedCount != nil else {
            throw operation.error("\(x.shape) cannot be reshaped to \(shape)")
        }
        return [x.reshaped(Shape(shape))]
    }
}

/// `expand_dims` and `squeeze`: add or remove axes of extent 1.
enum UnitAxes: MILRaisable {
    static let milTypes = ["expand_dims", "squeeze"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let isSqueeze = operation.type == "squeeze"
        let given = try operation.integers("axes")
        let rank = x.shape.rank + (isSqueeze ? 0 : given?.count ?? 0)
        let axes = Set(try operation.axes(given ?? [], rank: rank))
        var dimensions = x.shape.dimensions
        if isSqueeze {
            let removed = given == nil ? Set(dimensions.indices) : axes
            let kept = dimensions.indices.filter { !removed.contains($0) || dimensions[$0] != 1 }
            dimensions = kept.map { dimensions[$0] }
        } else {
            for axis in axes.sorted() { dimensions.insert(1, at: min(axis, dimensions.count)) }
        }
        return [x.reshaped(Shape(dimensions))]
    }
}
