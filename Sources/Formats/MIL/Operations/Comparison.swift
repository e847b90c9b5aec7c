import RetintGraph
import RetintMLPackage

/// Comparisons and logic; booleans are represented as the floats 0 and 1.
enum Comparisons: ComposedBinaryForm {
    static let functions: [String: @Sendable (Tensor, Tensor) -> Tensor] = [
        "greater": { greater($0, $1) }, "greater_equal": { greaterOrEqual($0, $1) },
        "less": { greater($1, $0) }, "less_equal": { greaterOrEqual($1, $0) },
        "equal": { equal($0, $1) }, "not_equal": { 1 - equal($0, $1) },
        "logical_and": { minimum($0, $1) }, "logical_or": { maximum($0, $1) },
        "logical_xor": { 1 - equal($0, $1) },
    ]
}

/// `logical_not`.
enum Negation: ComposedUnaryForm {
    static let functions: [String: @Sendable (Tensor, RaisedOperation) throws -> Tensor] = [
        "logical_not": { x, _ in 1 - x }
    ]
}

/// A comparison of the graph: the condition, cast to 0 and 1.
protocol ComparisonForm: MILLowerable {
    static var milType: String { get }
}

extension ComparisonForm {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let (x, y) = try (lowering.operand(node.inputs[0]), lowering.operand(node.inputs[1]))
        let condition = lowering.addCondition(Self.milType, ["x": x, "y": y], node)
        return lowering.add(
            "cast",
            ["x": .name(condition), "dtype": .constant(.string("\(lowering.precision)"))], node)
    }
}

extension Greater: ComparisonForm { static let milType = "greater" }
extension GreaterOrEqual: ComparisonForm { static let milType = "greater_equal" }
extension Equal: ComparisonForm { static let milType = "equal" }

/// x where y is above 0, else 0: `select`.
extension ReluGradient: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let (x, y) = try (lowering.operand(node.inputs[0]), lowering.operand(node.inputs[1]))
        let zero = try lowering.float(0, name: node.name)
        let condition = lowering.addCondition(
            "greater", ["x": y, "y": zero], node, shape: node.inputShapes[1])
        let a = node.inputShapes[0] == node.shape ? x : spread(x, condition, node, &lowering)
        return lowering.add("select", ["cond": .name(condition), "a": a, "b": zero], node)
    }

    /// x with the shape of the result. Core ML takes that from what is selected, not from the
    /// condition. The zeros that are added come from the condition, because x may be infinite.
    private func spread(
        _ x: MILOperand, _ condition: String, _ node: LoweredNode, _ lowering: inout MILLowering
    ) -> MILOperand {
        let shape = node.inputShapes[1]
        let share = lowering.add(
            "cast",
            ["x": .name(condition), "dtype": .constant(.string("\(lowering.precision)"))], node,
            shape: shape)
        let zeros = lowering.add(
            "sub", ["x": .name(share), "y": .name(share)], node, shape: shape)
        return .name(lowering.add("add", ["x": x, "y": .name(zeros)], node))
    }
}
