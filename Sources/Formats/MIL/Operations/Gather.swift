import RetintGraph
import RetintMLPackage
import RetintTensors

/// `gather` with constant indices.
enum Gather: MILRaisable {
    static let milTypes = ["gather"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        guard let indices = try operation.constant("indices"), indices.type.rank <= 1,
            try operation.integer("batch_dims", default: 0) == 0
        else { throw operation.error("indices have to be a constant scalar or vector") }
        let axis = try operation.axis("axis", rank: x.shape.rank, default: 0)
        let positions = try indices.integers().map { index in
            index < 0 ? Int(index) + x.shape[axis] : Int(index)
        }
        guard (1...Picking.maximumCount).contains(positions.count),
            positions.allSatisfy({ (0..<x.shape[axis]).contains($0) })
        else { throw operation.error("indices \(positions.prefix(8))… are out of range") }
        let picked = x.picked(positions, axis: axis)
        guard indices.type.rank == 0 else { return [picked] }
        var dimensions = picked.shape.dimensions
        dimensions.remove(at: axis)
        return [picked.reshaped(Shape(dimensions))]
    }
}
