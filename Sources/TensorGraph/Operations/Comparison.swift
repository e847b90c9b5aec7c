/// A comparison element by element with broadcasting: 1 where it holds, 0 elsewhere.
///
/// Comparisons are piecewise constant, so they have no gradient.
package protocol ComparisonElementwise: BinaryElementwise {}

extension ComparisonElementwise {
    public func gradients(_ backward: Backward) -> [Tensor?] { [nil, nil] }
}

/// 1 where x > y (`torch.gt`).
public struct Greater: ComparisonElementwise {
    public static let name = "gt"
}

/// 1 where x ≥ y (`torch.ge`).
public struct GreaterOrEqual: ComparisonElementwise {
    public static let name = "ge"
}

/// 1 where x = y (`torch.eq`).
public struct Equal: ComparisonElementwise {
    public static let name = "eq"
}

/// x where the condition is above 0, else y (`torch.where`); an element that is not selected may be NaN.
public func select(_ condition: Tensor, _ x: Tensor, _ y: Tensor) -> Tensor {
    let graph = x.graph
    return graph.apply(ReluGradient(), [x, condition])
        + graph.apply(ReluGradient(), [y, 1 - condition])
}

public func greater(_ x: Tensor, _ y: Tensor) -> Tensor { x.graph.apply(Greater(), [x, y]) }
public func greater(_ x: Tensor, _ y: Float) -> Tensor { greater(x, x.scalar(y)) }
public func greater(_ x: Float, _ y: Tensor) -> Tensor { greater(y.scalar(x), y) }
public func greaterOrEqual(_ x: Tensor, _ y: Tensor) -> Tensor {
    x.graph.apply(GreaterOrEqual(), [x, y])
}
public func greaterOrEqual(_ x: Tensor, _ y: Float) -> Tensor { greaterOrEqual(x, x.scalar(y)) }
public func greaterOrEqual(_ x: Float, _ y: Tensor) -> Tensor { greaterOrEqual(y.scalar(x), y) }
public func equal(_ x: Tensor, _ y: Tensor) -> Tensor { x.graph.apply(Equal(), [x, y]) }
