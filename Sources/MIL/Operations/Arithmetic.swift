import MLPackage
import TensorGraph

/// A binary operation that MIL has as it is.
protocol BinaryMIL: MILLowerable {
    static var milType: String { get }
}

extension BinaryMIL {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        try lowerBinary(node, &lowering)
    }

    func lowerBinary(_ node: LoweredNode, _ lowering: inout MILLowering) throws -> String {
        lowering.add(
            Self.milType,
            [
                "x": try lowering.operand(node.inputs[0]),
                "y": try lowering.operand(node.inputs[1]),
            ], node)
    }
}

extension Subtract: BinaryMIL { static let milType = "sub" }
extension Multiply: BinaryMIL { static let milType = "mul" }
extension Divide: BinaryMIL { static let milType = "real_div" }
extension Power: BinaryMIL { static let milType = "pow" }
extension Maximum: BinaryMIL { static let milType = "maximum" }
extension Minimum: BinaryMIL { static let milType = "minimum" }

/// `add`; behind a matrix product a known vector becomes the bias of `linear`.
extension Add: BinaryMIL {
    static let milType = "add"

    package func absorbsInput(of node: LoweredNode, in lowering: MILLowering) -> Bool {
        guard let matMul = lowering.node(node.inputs[0]).operation as? MatMul else { return false }
        return matMul.isLinear(lowering.node(node.inputs[0]), lowering)
            && lowering.isUsedOnce(node.inputs[0]) && lowering.constant(node.inputs[1]) != nil
            && node.inputShapes[1] == [node.inputShapes[0][-1]]
    }

    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        guard node.absorbsInput else {
            return try lowerBinary(node, &lowering)
        }
        let product = lowering.node(node.inputs[0])
        guard let matMul = product.operation as? MatMul else { return "" }
        let bias = try lowering.operand(node.inputs[1])
        return try matMul.lowerLinear(product, bias: bias, &lowering)
    }
}

/// Two operands with broadcasting.
enum BinaryRule: MILRaisable {
    private static let functions: [String: @Sendable (Tensor, Tensor) -> Tensor] = [
        "add": { $0 + $1 }, "sub": { $0 - $1 }, "mul": { $0 * $1 }, "real_div": { $0 / $1 },
        "floor_div": { floor($0 / $1) }, "mod": { $0 - floor($0 / $1) * $1 },
        "pow": { pow($0, $1) }, "maximum": { maximum($0, $1) }, "minimum": { minimum($0, $1) },
    ]

    static var milTypes: [String] { functions.keys.sorted() }

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (x, y) = try (operation.tensor("x"), operation.tensor("y"))
        return functions[operation.type].map { [$0(x, y)] } ?? []
    }
}
