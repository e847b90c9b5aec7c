import RetintGraph
import RetintMLPackage

/// `conv`; padding is in the order top, bottom, left, right.
extension Convolution: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let weight = try lowering.operand(node.inputs[1])
        let bias = try node.inputs.count > 2 ? lowering.operand(node.inputs[2]) : nil
        return try lower(node, input: node.inputs[0], weight: weight, bias: bias, &lowering)
    }

    /// Lowers the convolution with the given weights, for example with a batch normalization folded
    /// in.
    func lower(
        _ node: LoweredNode, input: Int, weight: MILOperand, bias: MILOperand?,
        _ lowering: inout MILLowering
    ) throws -> String {
        var inputs = window.milParameters
        inputs["x"] = try lowering.operand(input)
        inputs["weight"] = weight
        inputs["bias"] = bias
        inputs["dilations"] = .integers(window.dilation)
        inputs["groups"] = .constant(.integer(Int32(groups)))
        return lowering.add("conv", inputs, node)
    }

    package static let milTypes = ["conv"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (x, weight) = try (operation.tensor("x"), operation.tensor("weight"))
        try operation.requireSpatial(x, weight)
        return [
            try convolution(
                x, weight: weight, bias: try operation.optionalTensor("bias"),
                operation.windowAxes(x.shape, kernel: Array(weight.shape.dimensions.dropFirst(2))),
                groups: try operation.integer("groups", default: 1))
        ]
    }
}
