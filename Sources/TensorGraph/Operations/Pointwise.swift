/// A function of one number, applied element by element.
package protocol UnaryElementwise: Operation {}

extension UnaryElementwise {
    public func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return inputs[0]
    }
}

/// −x (`torch.neg`).
public struct Negate: UnaryElementwise {
    public static let name = "neg"
    public func gradients(_ backward: Backward) -> [Tensor?] { [-backward.gradient] }
}

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

/// |x| (`torch.abs`), with gradient 0 at 0.
public struct Absolute: UnaryElementwise {
    public static let name = "abs"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        let x = backward.inputs[0]
        return [backward.gradient * (greater(x, 0) - greater(0, x))]
    }
}

/// x limited to `minimum`…`maximum` (`torch.clamp`); the gradient passes on the limits themselves.
public struct Clip: UnaryElementwise {
    public static let name = "clip"
    package let minimum: Float
    package let maximum: Float

    public func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        try require(minimum <= maximum, "minimum \(minimum) is above maximum \(maximum)")
        return inputs[0]
    }

    public func gradients(_ backward: Backward) -> [Tensor?] {
        let x = backward.inputs[0]
        return [backward.gradient * greaterOrEqual(x, minimum) * greaterOrEqual(maximum, x)]
    }
}

extension Tensor {
    public static prefix func - (x: Tensor) -> Tensor { x.applying(Negate()) }
}

public func exp(_ x: Tensor) -> Tensor { x.applying(Exp()) }
public func log(_ x: Tensor) -> Tensor { x.applying(Log()) }
public func sqrt(_ x: Tensor) -> Tensor { x.applying(SquareRoot()) }
public func abs(_ x: Tensor) -> Tensor { x.applying(Absolute()) }
public func clip(_ x: Tensor, min minimum: Float, max maximum: Float) -> Tensor {
    x.applying(Clip(minimum: minimum, maximum: maximum))
}
