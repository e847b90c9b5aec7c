import RetintGraph
import RetintMLPackage
import RetintTensors

/// `gather_along_axis`.
extension GatherElements: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        let extent = node.inputShapes[0][axis]
        return lowering.add(
            "gather_along_axis",
            [
                "x": x, "indices": try lowering.indices(node.inputs[1], of: node, below: extent),
                "axis": .constant(.integer(Int32(axis))),
            ], node)
    }
}

/// `gather`, `gather_along_axis` and `gather_nd`, with constant or computed indices.
enum Gather: MILRaisable {
    static let milTypes = ["gather", "gather_along_axis", "gather_nd"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        switch operation.type {
        case "gather_along_axis":
            let x = try operation.tensor("x")
            let axis = try operation.axis("axis", rank: x.shape.rank, default: 0)
            return [RetintGraph.gather(x, axis: axis, indices: try operation.tensor("indices"))]
        case "gather_nd": return [try tuples(operation)]
        default: return [try slices(operation)]
        }
    }

    private static func slices(_ operation: RaisedOperation) throws -> Tensor {
        let x = try operation.tensor("x")
        let axis = try operation.axis("axis", rank: x.shape.rank, default: 0)
        let batch = try operation.integer("batch_dims", default: 0)
        if batch == 0, let positions = try constantPositions(operation, x.shape[axis]) {
            let picked = x.picked(positions.values, axis: axis)
            var dimensions = picked.shape.dimensions
            dimensions.replaceSubrange(axis...axis, with: positions.shape)
            return picked.reshaped(Shape(dimensions))
        }
        let indices = try operation.tensor("indices")
        guard batch == 0 else {
            guard batch == axis, batch < indices.shape.rank else {
                throw operation.error("batch_dims \(batch) with axis \(axis) is not supported")
            }
            return try perBatch(x, indices, batch, operation)
        }
        guard x.shape.rank + indices.shape.rank - 1 <= Shape.maximumRank else {
            throw operation.error("indices of \(indices.shape) are not supported")
        }
        return indexSelect(x, axis: axis, indices: indices)
    }

    /// Constant indices, counted from the start; nil for computed ones, and for so many that slices
    /// would be slower.
    private static func constantPositions(
        _ operation: RaisedOperation, _ size: Int
    ) throws -> (values: [Int], shape: [Int])? {
        guard case .some(let value) = try operation.known("indices") else { return nil }
        let positions = try value.integers().map { $0 < 0 ? Int($0) + size : Int($0) }
        guard !positions.isEmpty, positions.allSatisfy((0..<size).contains) else {
            throw operation.error("indices \(positions.prefix(8))… are out of range")
        }
        let jumps = zip(positions, positions.dropFirst()).count { $0 + 1 != $1 }
        return jumps < 64 ? (positions, value.type.shape ?? []) : nil
    }

    /// Indices of their own for each place of the leading axes.
    private static func perBatch(
        _ x: Tensor, _ indices: Tensor, _ batch: Int, _ operation: RaisedOperation
    ) throws -> Tensor {
        let lead = Array(x.shape.dimensions.prefix(batch))
        guard Array(indices.shape.dimensions.prefix(batch)) == lead else {
            throw operation.error("indices of \(indices.shape) do not fit \(x.shape)")
        }
        let rest = Array(x.shape.dimensions.dropFirst(batch + 1))
        let own = Array(indices.shape.dimensions.dropFirst(batch))
        let (places, inner) = (lead.reduce(1, *), rest.reduce(1, *))
        let count = own.reduce(1, *)
        let wanted = indices.reshaped([places, count, 1]).broadcast(to: [places, count, inner])
        let rows = x.reshaped([places, x.shape[batch], inner])
        return RetintGraph.gather(rows, axis: 1, indices: wanted)
            .reshaped(Shape(lead + own + rest))
    }

    /// Tuples of indices into the first axes.
    private static func tuples(_ operation: RaisedOperation) throws -> Tensor {
        let (x, indices) = try (operation.tensor("x"), operation.tensor("indices"))
        let batch = try operation.integer("batch_dims", default: 0)
        guard batch == 0 else { throw operation.error("batch_dims \(batch) is not supported") }
        let rows = try RowTuples(indices, of: x.shape)
        let width = indices.shape[-1]
        let shape = indices.shape.dimensions.dropLast() + x.shape.dimensions.dropFirst(width)
        return indexSelect(rows.flattened(x), axis: 0, indices: rows.positions)
            .reshaped(Shape(Array(shape)))
    }
}

/// Tuples of indices into a tensor's first axes, as positions of rows of those axes together.
struct RowTuples {
    /// One position a tuple, [tuples].
    let positions: Tensor
    private let count: Int
    private let rest: [Int]

    /// - Throws: `ShapeError` unless there is an index for at least one axis, and none too many.
    init(_ indices: Tensor, of shape: Shape) throws {
        let width = indices.shape.dimensions.last ?? 0
        try require(
            width >= 1 && width <= shape.rank, "indices of \(indices.shape) do not fit \(shape)")
        let named = Array(shape.dimensions.prefix(width))
        rest = Array(shape.dimensions.dropFirst(width))
        count = named.reduce(1, *)
        let tuples = indices.shape.count / max(1, width)
        let rows = indices.reshaped([tuples, width])
        var position: Tensor?
        var faults: [Tensor] = []
        for (axis, size) in named.enumerated() {
            let index = rows.sliced(axis: 1, axis..<(axis + 1))
            // Negative indices count from the end.
            let own = index + greater(0, index) * Float(size)
            faults.append(greater(0, own) + greater(own, Float(size - 1)))
            position = position.map { $0 * Float(size) + own } ?? own
        }
        // An index out of range makes the position so, which the run refuses.
        let outside = faults.dropFirst().reduce(faults[0], +) * 0x1p26
        positions = ((position ?? rows) + outside).reshaped([tuples])
    }

    /// A tensor as a matrix of rows.
    func flattened(_ x: Tensor) -> Tensor {
        x.reshaped([count, max(1, rest.reduce(1, *))])
    }
}
