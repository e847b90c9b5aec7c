/// x + y (`torch.add`).
public struct Add: BinaryElementwise {
    public static let name = "add"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        backward.binary({ backward.gradient }, { backward.gradient })
    }
}

/// x − y (`torch.sub`).
public struct Subtract: BinaryElementwise {
    public static let name = "sub"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        backward.binary({ backward.gradient }, { -backward.gradient })
    }
}

/// x · y (`torch.mul`).
public struct Multiply: BinaryElementwise {
    public static let name = "mul"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, y) = (backward.inputs[0], backward.inputs[1])
        return backward.binary({ backward.gradient * y }, { backward.gradient * x })
    }
}

/// x / y (`torch.div`).
public struct Divide: BinaryElementwise {
    public static let name = "div"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        let y = backward.inputs[1]
        return backward.binary(
            { backward.gradient / y }, { -(backward.gradient * backward.output / y) })
    }
}

/// x to the power y (`torch.pow`); NaN if x is negative and y is not an integer.
///
/// x⁰ has gradient 0 everywhere, and so has 0ʸ with respect to a y that is not negative.
public struct Power: BinaryElementwise {
    public static let name = "pow"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, y) = (backward.inputs[0], backward.inputs[1])
        // The comparisons avoid 0 · ∞: they turn 0⁻¹ into 0⁰ and log 0 into log 1.
        return backward.binary(
            { backward.gradient * y * pow(x, y - 1 + equal(y, y.scalar(0))) },
            { backward.gradient * backward.output * log(x + equal(x, x.scalar(0))) })
    }
}

/// The larger of x and y (`torch.maximum`); equal operands get half of the gradient each.
public struct Maximum: BinaryElementwise {
    public static let name = "maximum"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, y) = (backward.inputs[0], backward.inputs[1])
        let tie = equal(x, y) * 0.5
        return backward.binary(
            { backward.gradient * (greater(x, y) + tie) },
            { backward.gradient * (greater(y, x) + tie) })
    }
}

/// The smaller of x and y (`torch.minimum`); equal operands get half of the gradient each.
public struct Minimum: BinaryElementwise {
    public static let name = "minimum"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, y) = (backward.inputs[0], backward.inputs[1])
        let tie = equal(x, y) * 0.5
        return backward.binary(
            { backward.gradient * (greater(y, x) + tie) },
            { backward.gradient * (greater(x, y) + tie) })
    }
}

/// −x (`torch.neg`).
public struct Negate: UnaryElementwise {
    public static let name = "neg"
    public func gradients(_ backward: Backward) -> [Tensor?] { [-backward.gradient] }
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
    public static func + (x: Tensor, y: Tensor) -> Tensor { x.graph.apply(Add(), [x, y]) }
    public static func - (x: Tensor, y: Tensor) -> Tensor { x.graph.apply(Subtract(), [x, y]) }
    public static func * (x: Tensor, y: Tensor) -> Tensor { x.graph.apply(Multiply(), [x, y]) }
    public static func / (x: Tensor, y: Tensor) -> Tensor { x.graph.apply(Divide(), [x, y]) }

    public static func + (x: Tensor, y: Float) -> Tensor { x + x.scalar(y) }
    public static func - (x: Tensor, y: Float) -> Tensor { x - x.scalar(y) }
    public static func * (x: Tensor, y: Float) -> Tensor { x * x.scalar(y) }
    public static func / (x: Tensor, y: Float) -> Tensor { x / x.scalar(y) }
    public static func + (x: Float, y: Tensor) -> Tensor { y.scalar(x) + y }
    public static func - (x: Float, y: Tensor) -> Tensor { y.scalar(x) - y }
    public static func * (x: Float, y: Tensor) -> Tensor { y.scalar(x) * y }
    public static func / (x: Float, y: Tensor) -> Tensor { y.scalar(x) / y }
}

public func pow(_ x: Tensor, _ y: Tensor) -> Tensor { x.graph.apply(Power(), [x, y]) }
public func pow(_ x: Tensor, _ y: Float) -> Tensor { pow(x, x.scalar(y)) }
public func maximum(_ x: Tensor, _ y: Tensor) -> Tensor { x.graph.apply(Maximum(), [x, y]) }
public func minimum(_ x: Tensor, _ y: Tensor) -> Tensor { x.graph.apply(Minimum(), [x, y]) }
public func abs(_ x: Tensor) -> Tensor { x.applying(Absolute()) }
public func clip(_ x: Tensor, min minimum: Float, max maximum: Float) -> Tensor {
    x.applying(Clip(minimum: minimum, maximum: maximum))
}
