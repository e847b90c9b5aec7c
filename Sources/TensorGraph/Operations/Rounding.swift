/// The greatest whole number that is not above x (`torch.floor`); no gradient.
public struct Floor: UnaryElementwise {
    public static let name = "floor"
    public func gradients(_ backward: Backward) -> [Tensor?] { [nil] }
}

/// The nearest whole number, the even one of two (`torch.round`); no gradient.
public struct Round: UnaryElementwise {
    public static let name = "round"
    public func gradients(_ backward: Backward) -> [Tensor?] { [nil] }
}

/// Rounds to the nearest half-precision number, ties to even; too large gives infinity. What an
/// accelerator that computes in float16 does to each result.
package struct RoundToHalf: UnaryElementwise {
    package static let name = "round_to_half"

    package init() {}
}

public func floor(_ x: Tensor) -> Tensor { x.applying(Floor()) }
public func round(_ x: Tensor) -> Tensor { x.applying(Round()) }
