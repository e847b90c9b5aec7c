import MLPackage
import TensorGraph

/// A reduction that MIL has as it is.
protocol ReductionMIL: MILLowerable, Reduction {
    static var milType: String { get }
}

extension ReductionMIL {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let axes = try reducedAxes(of: node.inputShapes[0])
        let x = try lowering.operand(node.inputs[0])
        return lowering.add(
            Self.milType, Reductions.parameters(x, axes, keepDims: keepDims), node)
    }
}

extension Sum: ReductionMIL { static let milType = "reduce_sum" }
extension Mean: ReductionMIL { static let milType = "reduce_mean" }
extension Max: ReductionMIL { static let milType = "reduce_max" }

enum Reductions {
    static func parameters(
        _ x: MILOperand, _ axes: [Int], keepDims: Bool
    ) -> [String: MILOperand] {
        ["x": x, "axes": .integers(axes), "keep_dims": .constant(.bool(keepDims))]
    }
}

/// Reductions, some by composition.
enum ReductionRule: MILRaisable {
    private typealias Rule = @Sendable (Tensor, [Int], Bool) -> Tensor

    private static let functions: [String: Rule] = [
        "reduce_sum": { $0.sum(axes: $1, keepDims: $2) },
        "reduce_mean": { $0.mean(axes: $1, keepDims: $2) },
        "reduce_max": { $0.max(axes: $1, keepDims: $2) },
        "reduce_min": { -((-$0).max(axes: $1, keepDims: $2)) },
        "reduce_sum_square": { ($0 * $0).sum(axes: $1, keepDims: $2) },
        "reduce_l2_norm": { sqrt(($0 * $0).sum(axes: $1, keepDims: $2)) },
        "reduce_l1_norm": { abs($0).sum(axes: $1, keepDims: $2) },
        "reduce_log_sum_exp": { x, axes, keepDims in
            let largest = x.max(axes: axes, keepDims: true)
            let total = log(exp(x - largest).sum(axes: axes, keepDims: true)) + largest
            return keepDims ? total : total.sum(axes: axes)
        },
    ]

    static var milTypes: [String] { functions.keys.sorted() }

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let all = Array(0..<x.shape.rank)
        let axes = try operation.axes(
            try operation.integers("axes") ?? all, rank: x.shape.rank)
        let keepDims = try operation.bool("keep_dims", default: false)
        return functions[operation.type].map { [$0(x, axes, keepDims)] } ?? []
    }
}
