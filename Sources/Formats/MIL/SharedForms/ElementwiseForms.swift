import RetintGraph
import RetintMLPackage

/// A unary function that maps to a single MIL operation without parameters.
protocol UnaryForm: MILLowerable, MILRaisable {
    static var milType: String { get }

    static func raised(_ x: Tensor) -> Tensor
}

extension UnaryForm {
    package static var milTypes: [String] { [milType] }

    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        lowering.add(Self.milType, ["x": try lowering.operand(node.inputs[0])], node)
    }

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        [raised(try operation.tensor("x"))]
    }
}

/// A binary function with broadcasting that maps to a single MIL operation.
protocol BinaryForm: MILLowerable, MILRaisable {
    static var milType: String { get }

    static func raised(_ x: Tensor, _ y: Tensor) -> Tensor
}

extension BinaryForm {
    package static var milTypes: [String] { [milType] }

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

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        [raised(try operation.tensor("x"), try operation.tensor("y"))]
    }
}
