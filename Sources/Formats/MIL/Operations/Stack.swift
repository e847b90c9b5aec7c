import RetintGraph
import RetintMLPackage
import RetintTensors

/// `stack`: concatenation along a new axis.
enum Stack: MILRaisable {
    static let milTypes = ["stack"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let values = try operation.tensors("values")
        let axis = try operation.axis("axis", rank: values[0].shape.rank + 1)
        let expanded = values.map { value in
            var shape = value.shape.dimensions
            shape.insert(1, at: min(axis, shape.count))
            return value.reshaped(Shape(shape))
        }
        return [concat(expanded, axis: axis)]
    }
}
