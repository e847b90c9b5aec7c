import RetintGraph
import RetintMLPackage
import RetintTensors

/// `linear` if the second operand is a constant matrix, otherwise `matmul`.
extension MatMul: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        if isLinear(node, lowering) { return try lowerLinear(node, bias: nil, &lowering) }
        return lowering.add(
            "matmul",
            [
                "x": try lowering.operand(node.inputs[0]),
                "y": try lowering.operand(node.inputs[1]),
                "transpose_x": .constant(.bool(transposeX)),
                "transpose_y": .constant(.bool(transposeY)),
            ], node)
    }

    func isLinear(_ node: LoweredNode, _ lowering: MILLowering) -> Bool {
        !transposeX && transposeY && node.inputShapes[1].rank == 2
            && lowering.constant(node.inputs[1]) != nil
            && lowering.constant(node.inputs[0]) == nil
    }

    func lowerLinear(
        _ node: LoweredNode, bias: MILOperand?, _ lowering: inout MILLowering
    ) throws -> String {
        var inputs = ["x": try lowering.operand(node.inputs[0])]
        inputs["weight"] = try lowering.operand(node.inputs[1])
        inputs["bias"] = bias
        return lowering.add("linear", inputs, node)
    }

    package static let milTypes = ["matmul"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let transposeX = try operation.bool("transpose_x", default: false)
        let transposeY = try operation.bool("transpose_y", default: false)
        var (x, y) = try (operation.tensor("x"), operation.tensor("y"))
        guard x.shape.rank >= 2, y.shape.rank >= 2 else {
            throw operation.error(
                "its operands have to be matrices, not of shapes \(x.shape) and \(y.shape)")
        }
        let lead = try broadcastShape(
            Shape(Array(x.shape.dimensions.dropLast(2))),
            Shape(Array(y.shape.dimensions.dropLast(2)))
        ).dimensions
        x = x.broadcast(to: Shape(lead + x.shape.dimensions.suffix(2)))
        if y.shape.rank > 2 { y = y.broadcast(to: Shape(lead + y.shape.dimensions.suffix(2))) }
        return [matmul(x, y, transposeX: transposeX, transposeY: transposeY)]
    }
}

/// `linear`: x·Wᵀ + b.
enum Linear: MILRaisable {
    static let milTypes = ["linear"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (x, weight) = try (operation.tensor("x"), operation.tensor("weight"))
        let bias = try operation.optionalTensor("bias")
        guard x.shape.rank == 1 else { return [linear(x, weight: weight, bias: bias)] }
        let row = linear(x.reshaped([1, x.shape.count]), weight: weight, bias: bias)
        return [row.reshaped([row.shape.count])]
    }
}

/// `einsum`.
enum Einsums: MILRaisable {
    static let milTypes = ["einsum"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let equation = try operation.string("equation", default: "")
        return [try einsum(equation, operation.tensors("values"))]
    }
}
