import MLPackage
import TensorGraph

/// `quantize` and `dequantize`, which activations pass through where they are computed in 8 bits.
/// Whole numbers are carried as the floats that they are.
enum ActivationQuantization: MILRaisable {
    static let milTypes = ["quantize", "dequantize"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let input = try operation.tensor("input")
        guard let scale = try parameter("scale", operation, input) else {
            throw operation.error(
                "its parameter scale is missing", "The package is damaged: export it again.")
        }
        let zero = try parameter("zero_point", operation, input)
        guard operation.type == "quantize" else {
            return [(zero.map { input - $0 } ?? input) * scale]
        }
        let limits = try limits(operation)
        let rounded = round(input / scale)
        return [clip(zero.map { rounded + $0 } ?? rounded, min: limits.low, max: limits.high)]
    }

    private static func limits(_ operation: RaisedOperation) throws -> (low: Float, high: Float) {
        switch try operation.string("output_dtype", default: "") {
        case "int8": return (-128, 127)
        case "uint8": return (0, 255)
        case let type: throw operation.error("quantizing to \"\(type)\" is not supported")
        }
    }

    /// One number for all, or one for each place of the operation's axis; nil where not given.
    private static func parameter(
        _ name: String, _ operation: RaisedOperation, _ input: Tensor
    ) throws -> Tensor? {
        guard let numbers = try operation.constant(name).map({ try operation.weights($0).numbers })
        else { return nil }
        if numbers.count == 1 { return input.scalar(numbers[0]) }
        let axis = try operation.axis("axis", rank: input.shape.rank)
        guard numbers.count == input.shape[axis] else {
            throw operation.error(
                "its parameter \(name) has \(numbers.count) numbers for \(input.shape[axis]) "
                    + "places of axis \(axis)", "The package is damaged: export it again.")
        }
        var shape = [Int](repeating: 1, count: input.shape.rank)
        shape[axis] = numbers.count
        return input.graph.constant(TensorData(shape: Shape(shape), scalars: numbers))
    }
}
