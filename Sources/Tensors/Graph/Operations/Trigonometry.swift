/// The sine of radians (`torch.sin`).
package struct Sine: UnaryElementwise {
    package static let name = "sin"
    package func formula(_ x: Formula) -> Formula { .unary(.sin, x) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient * cos(backward.inputs[0])]
    }
}

/// The cosine of radians (`torch.cos`).
package struct Cosine: UnaryElementwise {
    package static let name = "cos"
    package func formula(_ x: Formula) -> Formula { .unary(.cos, x) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        [-(backward.gradient * sin(backward.inputs[0]))]
    }
}

/// The angle in −π/2…π/2 whose tangent is x (`torch.atan`).
package struct ArcTangent: UnaryElementwise {
    package static let name = "atan"
    package func formula(_ x: Formula) -> Formula { .unary(.atan, x) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        let x = backward.inputs[0]
        return [backward.gradient / (x * x + 1)]
    }
}

/// The sine of radians (`torch.sin`).
public func sin(_ x: Tensor) -> Tensor { x.applying(Sine()) }
/// The cosine of radians (`torch.cos`).
public func cos(_ x: Tensor) -> Tensor { x.applying(Cosine()) }
/// The angle in −π/2…π/2 whose tangent is x (`torch.atan`).
public func atan(_ x: Tensor) -> Tensor { x.applying(ArcTangent()) }
