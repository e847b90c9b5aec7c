import RetintGraph
import RetintMLPackage

extension Relu: UnaryForm {
    package static let milType = "relu"
    package static func raised(_ x: Tensor) -> Tensor { relu(x) }
}

extension Relu6: UnaryForm {
    package static let milType = "relu6"
    package static func raised(_ x: Tensor) -> Tensor { relu6(x) }
}

extension Sigmoid: UnaryForm {
    package static let milType = "sigmoid"
    package static func raised(_ x: Tensor) -> Tensor { sigmoid(x) }
}

extension Tanh: UnaryForm {
    package static let milType = "tanh"
    package static func raised(_ x: Tensor) -> Tensor { tanh(x) }
}

/// `leaky_relu`.
extension LeakyRelu: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let slope = try lowering.float(negativeSlope, name: node.name)
        let x = try lowering.operand(node.inputs[0])
        return lowering.add("leaky_relu", ["x": x, "alpha": slope], node)
    }

    package static let milTypes = ["leaky_relu"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let slope = try operation.float("alpha", default: 0.01)
        return [leakyRelu(try operation.tensor("x"), negativeSlope: slope)]
    }
}

/// x · `sigmoid_hard`(x): MIL has no hard swish.
extension HardSwish: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        let gate = lowering.add(
            "sigmoid_hard",
            [
                "x": x, "alpha": try lowering.float(1 / 6, name: node.name),
                "beta": try lowering.float(0.5, name: node.name),
            ], node)
        return lowering.add("mul", ["x": x, "y": .name(gate)], node)
    }
}
