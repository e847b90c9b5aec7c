package import RetintTensors

/// x + y (`torch.add`).
package struct Add: BinaryElementwise {
    package static let name = "add"
    package func formula(_ x: Formula, _ y: Formula) -> Formula { x + y }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        backward.binary({ backward.gradient }, { backward.gradient })
    }
}

/// x − y (`torch.sub`).
package struct Subtract: BinaryElementwise {
    package static let name = "sub"
    package func formula(_ x: Formula, _ y: Formula) -> Formula { x - y }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        backward.binary({ backward.gradient }, { -backward.gradient })
    }
}

/// x · y (`torch.mul`).
package struct Multiply: BinaryElementwise {
    package static let name = "mul"
    package func formula(_ x: Formula, _ y: Formula) -> Formula { x * y }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, y) = (backward.inputs[0], backward.inputs[1])
        return backward.binary({ backward.gradient * y }, { backward.gradient * x })
    }
}

/// x / y (`torch.div`).
package struct Divide: BinaryElementwise {
    package static let name = "div"
    package func formula(_ x: Formula, _ y: Formula) -> Formula { x / y }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        let y = backward.inputs[1]
        return backward.binary(
            { backward.gradient / y }, { -(backward.gradient * backward.output / y) })
    }
}

/// x to the power y (`torch.pow`); NaN if x is negative and y is not an integer.
///
/// x⁰ has gradient 0 everywhere, and so has 0ʸ with respect to a y that is not negative.
package struct Power: BinaryElementwise {
    package static let name = "pow"
    package func formula(_ x: Formula, _ y: Formula) -> Formula { .binary(.power, x, y) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, y) = (backward.inputs[0], backward.inputs[1])
        // The comparisons avoid 0 · ∞: they turn 0⁻¹ into 0⁰ and log 0 into log 1.
        return backward.binary(
            { backward.gradient * y * pow(x, y - 1 + equal(y, y.scalar(0))) },
            { backward.gradient * backward.output * log(x + equal(x, x.scalar(0))) })
    }
}

/// The larger of x and y (`torch.maximum`); equal operands get half of the gradient each.
package struct Maximum: BinaryElementwise {
    package static let name = "maximum"
    package func formula(_ x: Formula, _ y: Formula) -> Formula { .max(x, y) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, y) = (backward.inputs[0], backward.inputs[1])
        let tie = equal(x, y) * 0.5
        return backward.binary(
            { backward.gradient * (greater(x, y) + tie) },
            { backward.gradient * (greater(y, x) + tie) })
    }
}

/// The smaller of x and y (`torch.minimum`); equal operands get half of the gradient each.
package struct Minimum: BinaryElementwise {
    package static let name = "minimum"
    package func formula(_ x: Formula, _ y: Formula) -> Formula { .min(x, y) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, y) = (backward.inputs[0], backward.inputs[1])
        let tie = equal(x, y) * 0.5
        return backward.binary(
            { backward.gradient * (greater(y, x) + tie) },
            { backward.gradient * (greater(x, y) + tie) })
    }
}

/// −x (`torch.neg`).
package struct Negate: UnaryElementwise {
    package static let name = "neg"
    package func formula(_ x: Formula) -> Formula { -x }
    package func gradients(_ backward: Backward) -> [Tensor?] { [-backward.gradient] }
}

/// |x| (`torch.abs`), with gradient 0 at 0.
package struct Absolute: UnaryElementwise {
    package static let name = "abs"
    package func formula(_ x: Formula) -> Formula { .unary(.absolute, x) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        let x = backward.inputs[0]
        return [backward.gradient * (greater(x, 0) - greater(0, x))]
    }
}

/// x limited to `minimum`…`maximum` (`torch.clamp`); the gradient passes on the limits themselves.
package struct Clip: UnaryElementwise {
    package static let name = "clip"
    package let minimum: Float
    package let maximum: Float

    package func formula(_ x: Formula) -> Formula {
        x.clipped(Formula(minimum), Formula(maximum))
    }

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        try require(minimum <= maximum, "minimum \(minimum) is above maximum \(maximum)")
        return inputs[0]
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let x = backward.inputs[0]
        return [backward.gradient * greaterOrEqual(x, minimum) * greaterOrEqual(maximum, x)]
    }
}

extension Tensor {
    /// −x (`torch.neg`).
    public static prefix func - (x: Tensor) -> Tensor { x.applying(Negate()) }
    /// x + y, with broadcasting (`torch.add`).
    public static func + (x: Tensor, y: Tensor) -> Tensor { x.graph.apply(Add(), [x, y]) }
    /// x − y, with broadcasting (`torch.sub`).
    public static func - (x: Tensor, y: Tensor) -> Tensor { x.graph.apply(Subtract(), [x, y]) }
    /// x · y, element by element with broadcasting (`torch.mul`).
    public static func * (x: Tensor, y: Tensor) -> Tensor { x.graph.apply(Multiply(), [x, y]) }
    /// x / y, element by element with broadcasting (`torch.div`).
    public static func / (x: Tensor, y: Tensor) -> Tensor { x.graph.apply(Divide(), [x, y]) }

    /// Adds a scalar to each element.
    public static func + (x: Tensor, y: Float) -> Tensor { x + x.scalar(y) }
    /// Subtracts a scalar from each element.
    public static func - (x: Tensor, y: Float) -> Tensor { x - x.scalar(y) }
    /// Multiplies each element by a scalar.
    public static func * (x: Tensor, y: Float) -> Tensor { x * x.scalar(y) }
    /// Divides each element by a scalar.
    public static func / (x: Tensor, y: Float) -> Tensor { x / x.scalar(y) }
    /// Adds each element to a scalar.
    public static func + (x: Float, y: Tensor) -> Tensor { y.scalar(x) + y }
    /// Subtracts each element from a scalar.
    public static func - (x: Float, y: Tensor) -> Tensor { y.scalar(x) - y }
    /// Multiplies a scalar by each element.
    public static func * (x: Float, y: Tensor) -> Tensor { y.scalar(x) * y }
    /// Divides a scalar by each element.
    public static func / (x: Float, y: Tensor) -> Tensor { y.scalar(x) / y }
}

/// x to the power y, with broadcasting (`torch.pow`); NaN if x is negative and y is not an integer.
public func pow(_ x: Tensor, _ y: Tensor) -> Tensor { x.graph.apply(Power(), [x, y]) }
/// Each element to the power y (`torch.pow`).
public func pow(_ x: Tensor, _ y: Float) -> Tensor { pow(x, x.scalar(y)) }
/// The larger of x and y, with broadcasting (`torch.maximum`).
public func maximum(_ x: Tensor, _ y: Tensor) -> Tensor { x.graph.apply(Maximum(), [x, y]) }
/// The smaller of x and y, with broadcasting (`torch.minimum`).
public func minimum(_ x: Tensor, _ y: Tensor) -> Tensor { x.graph.apply(Minimum(), [x, y]) }
/// |x| (`torch.abs`).
public func abs(_ x: Tensor) -> Tensor { x.applying(Absolute()) }
/// x limited to `minimum`…`maximum` (`torch.clamp`).
public func clip(_ x: Tensor, min minimum: Float, max maximum: Float) -> Tensor {
    x.applying(Clip(minimum: minimum, maximum: maximum))
}
