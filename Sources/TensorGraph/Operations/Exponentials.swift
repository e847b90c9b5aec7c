/// eˣ (`torch.exp`).
public struct Exp: UnaryElementwise {
    public static let name = "exp"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient * backward.output]
    }
}

/// The natural logarithm (`torch.log`); −∞ at 0, NaN below.
public struct Log: UnaryElementwise {
    public static let name = "log"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient / backward.inputs[0]]
    }
}

/// √x (`torch.sqrt`); NaN below 0.
public struct SquareRoot: UnaryElementwise {
    public static let name = "sqrt"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient * 0.5 / backward.output]
    }
}

public func exp(_ x: Tensor) -> Tensor { x.applying(Exp()) }
public func log(_ x: Tensor) -> Tensor { x.applying(Log()) }
public func sqrt(_ x: Tensor) -> Tensor { x.applying(SquareRoot()) }
