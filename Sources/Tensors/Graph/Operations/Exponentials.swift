/// eˣ (`torch.exp`).
package struct Exp: UnaryElementwise {
    package static let name = "exp"
    package func formula(_ x: Formula) -> Formula { .exp(x) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient * backward.output]
    }
}

/// The natural logarithm (`torch.log`); −∞ at 0, NaN below.
package struct Log: UnaryElementwise {
    package static let name = "log"
    package func formula(_ x: Formula) -> Formula { .unary(.log, x) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient / backward.inputs[0]]
    }
}

/// √x (`torch.sqrt`); NaN below 0.
package struct SquareRoot: UnaryElementwise {
    package static let name = "sqrt"
    package func formula(_ x: Formula) -> Formula { .unary(.squareRoot, x) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient * 0.5 / backward.output]
    }
}

/// The error function, 2/√π ∫₀ˣ e^(−t²) dt (`torch.erf`).
package struct ErrorFunction: UnaryElementwise {
    package static let name = "erf"
    package func formula(_ x: Formula) -> Formula { .unary(.erf, x) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        let x = backward.inputs[0]
        return [backward.gradient * 1.128_379_2 * exp(-(x * x))]
    }
}

/// eˣ (`torch.exp`).
public func exp(_ x: Tensor) -> Tensor { x.applying(Exp()) }
/// The natural logarithm (`torch.log`); −∞ at 0, NaN below.
public func log(_ x: Tensor) -> Tensor { x.applying(Log()) }
/// The error function (`torch.erf`).
public func erf(_ x: Tensor) -> Tensor { x.applying(ErrorFunction()) }
/// √x (`torch.sqrt`); NaN below 0.
public func sqrt(_ x: Tensor) -> Tensor { x.applying(SquareRoot()) }
