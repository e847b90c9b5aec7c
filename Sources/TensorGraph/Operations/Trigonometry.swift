/// The sine of radians (`torch.sin`).
public struct Sine: UnaryElementwise {
    public static let name = "sin"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient * cos(backward.inputs[0])]
    }
}

/// The cosine of radians (`torch.cos`).
public struct Cosine: UnaryElementwise {
    public static let name = "cos"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        [-(backward.gradient * sin(backward.inputs[0]))]
    }
}

/// The angle in −π/2…π/2 whose tangent is x (`torch.atan`).
public struct ArcTangent: UnaryElementwise {
    public static let name = "atan"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        let x = backward.inputs[0]
        return [backward.gradient / (x * x + 1)]
    }
}

public func sin(_ x: Tensor) -> Tensor { x.applying(Sine()) }
public func cos(_ x: Tensor) -> Tensor { x.applying(Cosine()) }
public func atan(_ x: Tensor) -> Tensor { x.applying(ArcTangent()) }
