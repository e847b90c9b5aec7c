import RetintGraph
import RetintTensors

/// `shape`: the sizes of a value's axes.
enum ShapeOf: MILRaisable {
    static let milTypes = ["shape"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let dimensions = try operation.tensor("x").shape.dimensions
        // As floats they are exact up to 2²⁴.
        guard dimensions.allSatisfy({ $0 <= 1 << 24 }) else {
            throw operation.error("the sizes \(dimensions) are not supported")
        }
        let sizes = TensorData(shape: [dimensions.count], scalars: dimensions.map(Float.init))
        return [operation.graph.constant(sizes)]
    }
}
