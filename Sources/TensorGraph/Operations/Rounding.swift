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

public func floor(_ x: Tensor) -> Tensor { x.applying(Floor()) }
public func round(_ x: Tensor) -> Tensor { x.applying(Round()) }
