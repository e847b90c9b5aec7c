import RetintGraph
import RetintMLPackage

/// A reduction that maps to a single MIL operation.
protocol ReductionForm: MILLowerable, MILRaisable, AxisReduction {
    static var milType: String { get }

    static func raised(_ x: Tensor, _ axes: [Int], keepDims: Bool) -> Tensor
}

extension ReductionForm {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let axes = try reducedAxes(of: node.inputShapes[0])
        let x = try lowering.operand(node.inputs[0])
        return lowering.add(
            Self.milType, Reductions.parameters(x, axes, keepDims: keepDims), node)
    }

    package static var milTypes: [String] { [milType] }

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (x, axes, keepDims) = try operation.reduction()
        return [raised(x, axes, keepDims: keepDims)]
    }
}

extension Sum: ReductionForm {
    package static let milType = "reduce_sum"
    package static func raised(_ x: Tensor, _ axes: [Int], keepDims: Bool) -> Tensor {
        x.sum(axes: axes, keepDims: keepDims)
    }
}

extension Mean: ReductionForm {
    package static let milType = "reduce_mean"
    package static func raised(_ x: Tensor, _ axes: [Int], keepDims: Bool) -> Tensor {
        x.mean(axes: axes, keepDims: keepDims)
    }
}

extension Max: ReductionForm {
    package static let milType = "reduce_max"
    package static func raised(_ x: Tensor, _ axes: [Int], keepDims: Bool) -> Tensor {
        x.max(axes: axes, keepDims: keepDims)
    }
}

enum Reductions {
    static func parameters(
        _ x: MILOperand, _ axes: [Int], keepDims: Bool
    ) -> [String: MILOperand] {
        ["x": x, "axes": .integers(axes), "keep_dims": .constant(.bool(keepDims))]
    }
}

/// MIL reductions that are composed of several graph operations.
enum ComposedReductions: MILRaisable {
    private typealias Rule = @Sendable (Tensor, [Int], Bool) -> Tensor

    private static let functions: [String: Rule] = [
        "reduce_min": { -((-$0).max(axes: $1, keepDims: $2)) },
        "reduce_sum_square": { ($0 * $0).sum(axes: $1, keepDims: $2) },
        "reduce_l2_norm": { sqrt(($0 * $0).sum(axes: $1, keepDims: $2)) },
        "reduce_l1_norm": { abs($0).sum(axes: $1, keepDims: $2) },
        "reduce_log_sum": { log($0.sum(axes: $1, keepDims: $2)) },
        "reduce_prod": product,
        "reduce_log_sum_exp": { x, axes, keepDims in
            let largest = x.max(axes: axes, keepDims: true)
            let total = log(exp(x - largest).sum(axes: axes, keepDims: true)) + largest
            return keepDims ? total : total.sum(axes: axes)
        },
    ]

    /// Products of slices, since the graph has no such reduction.
    @Sendable private static func product(_ x: Tensor, _ axes: [Int], _ keepDims: Bool) -> Tensor {
        let whole = axes.reduce(x) { x, axis in
            let slices = (0..<x.shape[axis]).map { x.sliced(axis: axis, $0..<($0 + 1)) }
            return slices.dropFirst().reduce(slices[0], *)
        }
        return keepDims ? whole : whole.sum(axes: axes)
    }

    private static let longestProduct = 256

    static var milTypes: [String] { functions.keys.sorted() }

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (x, axes, keepDims) = try operation.reduction()
        guard operation.type != "reduce_prod" || axes.allSatisfy({ x.shape[$0] <= longestProduct })
        else {
            throw operation.error("products of over \(longestProduct) elements are not supported")
        }
        return functions[operation.type].map { [$0(x, axes, keepDims)] } ?? []
    }
}

extension RaisedOperation {
    /// The parameters of a reduction; without `axes`, or with an empty list, it reduces all.
    fileprivate func reduction() throws -> (Tensor, axes: [Int], keepDims: Bool) {
        let x = try tensor("x")
        let stated = try integers("axes") ?? []
        let all = Array(0..<x.shape.rank)
        let axes = stated.isEmpty ? all : try axes(stated, rank: x.shape.rank)
        return (x, axes, try bool("keep_dims", default: false))
    }
}
