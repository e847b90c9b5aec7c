/// eˣ (`torch.exp`).
package struct Exp: UnaryElementwise {
    package static let name = "exp"
    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient * backward.output]
    }
}

/// The natural logarithm (`torch.log`); −∞ at 0, NaN below.
package struct Log: UnaryElementwise {
    package static let name = "log"
    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient / backward.inputs[0]]
    }
}

/// √x (`torch.sqrt`); NaN below 0.
package struct SquareRoot: UnaryElementwise {
    package static let name = "sqrt"
    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient * 0.5 / backward.output]
    }
}

/// eˣ (`torch.exp`).
public func exp(_ x: Tensor) -> Tensor { x.applying(Exp()) }
/// The natural logarithm (`torch.log`); −∞ at 0, NaN below.
public func log(_ x: Tensor) -> Tensor { x.applying(Log()) }
/// √x (`torch.sqrt`); NaN below 0.
public func sqrt(_ x: Tensor) -> Tensor { x.applying(SquareRoot()) }
