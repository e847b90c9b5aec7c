import RetintGraph
import RetintMLPackage
import RetintTensors

/// `quantize` and `dequantize`, which are read as the operations that they are composed of.
extension FakeQuantizeInput: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        guard lowering.target >= .iOS17 else {
            throw node.error(
                "it rounds an input to 8 bits, as the network was trained to, which takes iOS17",
                "Choose the target iOS17 or later.")
        }
        let scale = try lowering.required(1, of: node).scalars[0]
        let step = try lowering.float(scale, name: node.name)
        let integers = lowering.addIntegers(
            "quantize",
            [
                "input": try lowering.operand(node.inputs[0]), "scale": step,
                "output_dtype": .constant(.string("int8")),
            ], node, .int8)
        return lowering.add("dequantize", ["input": .name(integers), "scale": step], node)
    }
}

/// `quantize` and `dequantize` of activations with 8 bits. Integers are represented as floats.
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

    /// A scalar, or one value for each index of the operation's axis; nil if not given.
    private static func parameter(
        _ name: String, _ operation: RaisedOperation, _ input: Tensor
    ) throws -> Tensor? {
        guard let scalars = try operation.constant(name).map({ try operation.weights($0).scalars })
        else { return nil }
        if scalars.count == 1 { return input.scalar(scalars[0]) }
        let axis = try operation.axis("axis", rank: input.shape.rank)
        guard scalars.count == input.shape[axis] else {
            throw operation.error(
                "its parameter \(name) has \(scalars.count) values, but axis \(axis) has "
                    + "\(input.shape[axis]) elements", "The package is damaged: export it again.")
        }
        var shape = [Int](repeating: 1, count: input.shape.rank)
        shape[axis] = scalars.count
        return input.graph.constant(TensorData(shape: Shape(shape), scalars: scalars))
    }
}
