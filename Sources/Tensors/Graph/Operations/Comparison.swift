/// A comparison element by element with broadcasting: 1 where it holds, 0 elsewhere.
///
/// Comparisons are piecewise constant, so they have no gradient.
package protocol ComparisonElementwise: BinaryElementwise {}

extension ComparisonElementwise {
    package func gradients(_ backward: Backward) -> [Tensor?] { [nil, nil] }
}

/// 1 where x > y (`torch.gt`).
package struct Greater: ComparisonElementwise {
    package static let name = "gt"
    package func formula(_ x: Formula, _ y: Formula) -> Formula { .binary(.greater, x, y) }
}

/// 1 where x ≥ y (`torch.ge`).
package struct GreaterOrEqual: ComparisonElementwise {
    package static let name = "ge"
    package func formula(_ x: Formula, _ y: Formula) -> Formula { .binary(.greaterOrEqual, x, y) }
}

/// 1 where x = y (`torch.eq`).
package struct Equal: ComparisonElementwise {
    package static let name = "eq"
    package func formula(_ x: Formula, _ y: Formula) -> Formula { .binary(.equal, x, y) }
}

/// x where the condition is above 0, else y (`torch.where`); an element that is not selected may be
/// NaN.
public func select(_ condition: Tensor, _ x: Tensor, _ y: Tensor) -> Tensor {
    let graph = x.graph
    return graph.apply(ReluGradient(), [x, condition])
        + graph.apply(ReluGradient(), [y, 1 - condition])
}

/// 1 where x > y, else 0, with broadcasting (`torch.gt`).
public func greater(_ x: Tensor, _ y: Tensor) -> Tensor { x.graph.apply(Greater(), [x, y]) }
/// 1 where x > y, else 0.
public func greater(_ x: Tensor, _ y: Float) -> Tensor { greater(x, x.scalar(y)) }
/// 1 where x > y, else 0.
public func greater(_ x: Float, _ y: Tensor) -> Tensor { greater(y.scalar(x), y) }
/// 1 where x ≥ y, else 0, with broadcasting (`torch.ge`).
public func greaterOrEqual(_ x: Tensor, _ y: Tensor) -> Tensor {
    x.graph.apply(GreaterOrEqual(), [x, y])
}
/// 1 where x ≥ y, else 0.
public func greaterOrEqual(_ x: Tensor, _ y: Float) -> Tensor { greaterOrEqual(x, x.scalar(y)) }
/// 1 where x ≥ y, else 0.
public func greaterOrEqual(_ x: Float, _ y: Tensor) -> Tensor { greaterOrEqual(y.scalar(x), y) }
/// 1 where x = y, else 0, with broadcasting (`torch.eq`).
public func equal(_ x: Tensor, _ y: Tensor) -> Tensor { x.graph.apply(Equal(), [x, y]) }
