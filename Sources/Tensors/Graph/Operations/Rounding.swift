/// The largest integer that is not above x (`torch.floor`); no gradient.
package struct Floor: UnaryElementwise {
    package static let name = "floor"
    package func formula(_ x: Formula) -> Formula { .unary(.floor, x) }
    package func gradients(_ backward: Backward) -> [Tensor?] { [nil] }
}

/// The nearest integer, ties to even (`torch.round`); no gradient.
package struct Round: UnaryElementwise {
    package static let name = "round"
    package func formula(_ x: Formula) -> Formula { .unary(.round, x) }
    package func gradients(_ backward: Backward) -> [Tensor?] { [nil] }
}

/// The nearest half-precision value, ties to even; infinity if x is too large. An accelerator that
/// computes in float16 rounds each result like this. The gradient passes as if nothing was rounded
/// (Bengio et al. 2013, the straight-through estimator).
package struct RoundToHalf: UnaryElementwise {
    package static let name = "round_to_half"
    package func formula(_ x: Formula) -> Formula { .unary(.roundToHalf, x) }
    package func gradients(_ backward: Backward) -> [Tensor?] { [backward.gradient] }

    package init() {}
}

/// The largest integer that is not above x (`torch.floor`).
public func floor(_ x: Tensor) -> Tensor { x.applying(Floor()) }
/// The nearest integer, ties to even (`torch.round`).
public func round(_ x: Tensor) -> Tensor { x.applying(Round()) }
