/// The largest integer that is not above x (`torch.floor`); no gradient.
public struct Floor: UnaryElementwise {
    public static let name = "floor"
    public func gradients(_ backward: Backward) -> [Tensor?] { [nil] }
}

/// The nearest integer, ties to even (`torch.round`); no gradient.
public struct Round: UnaryElementwise {
    public static let name = "round"
    public func gradients(_ backward: Backward) -> [Tensor?] { [nil] }
}

/// The nearest half-precision value, ties to even; infinity if x is too large. An accelerator that
/// computes in float16 rounds each result like this.
package struct RoundToHalf: UnaryElementwise {
    package static let name = "round_to_half"

    package init() {}
}

public func floor(_ x: Tensor) -> Tensor { x.applying(Floor()) }
public func round(_ x: Tensor) -> Tensor { x.applying(Round()) }
