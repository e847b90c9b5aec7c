import MLPackage
import TensorGraph

/// `reshape`.
extension Reshape: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        guard shape.rank > 0 else {
            throw node.error("a scalar has no form in MIL", "Keep one dimension.")
        }
        let x = try lowering.operand(node.inputs[0])
        return lowering.add("reshape", ["x": x, "shape": .integers(shape.dimensions)], node)
    }

    package static let milTypes = ["reshape"]

    /// A 0 stands for the dimension that was there, a −1 for what is left.
    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        var shape = try operation.requiredIntegers("shape")
        for place in shape.indices where shape[place] == 0 && shape.count == x.shape.rank {
            shape[place] = x.shape[place]
        }
        let known = Shape(shape.filter { $0 != -1 }).boundedCount
        if let free = shape.firstIndex(of: -1), let known { shape[free] = x.shape.count / known }
        guard shape.allSatisfy({ $0 > 0 }), Shape(shape).boundedCount != nil else {
            throw operation.error("\(x.shape) cannot take the shape \(shape)")
        }
        return [x.reshaped(Shape(shape))]
    }
}

/// `expand_dims` and `squeeze`: the declared axes come or go.
enum AxesRule: MILRaisable {
    static let milTypes = ["expand_dims", "squeeze"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let isSqueeze = operation.type == "squeeze"
        let given = try operation.integers("axes")
        let rank = x.shape.rank + (isSqueeze ? 0 : given?.count ?? 0)
        let axes = Set(try operation.axes(given ?? [], rank: rank))
        var dimensions = x.shape.dimensions
        if isSqueeze {
            let gone = given == nil ? Set(dimensions.indices) : axes
            let kept = dimensions.indices.filter { !gone.contains($0) || dimensions[$0] != 1 }
            dimensions = kept.map { dimensions[$0] }
        } else {
            for axis in axes.sorted() { dimensions.insert(1, at: min(axis, dimensions.count)) }
        }
        return [x.reshaped(Shape(dimensions))]
    }
}

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

/// `tile`: whole repetitions of each axis.
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

    /// Copies along one axis, which is split off for it where it is longer than 1.
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

/// Operations that leave float numbers as they are.
enum IdentityRule: MILRaisable {
    static let milTypes = ["identity", "cast"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        if operation.type == "cast" {
            let type = try operation.string("dtype", default: "")
            guard ["fp16", "fp32"].contains(type) else {
                throw operation.error("a cast to \"\(type)\" is not supported")
            }
        }
        return [try operation.tensor("x")]
    }
}
