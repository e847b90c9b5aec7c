/// max(x, 0) (`torch.relu`), with gradient 0 at 0.
public struct Relu: UnaryElementwise {
    public static let name = "relu"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient.graph.apply(ReluGradient(), [backward.gradient, backward.output])]
    }
}

/// dy where y is above 0, else 0 (PyTorch's `threshold_backward`): one operation, so that no mask is
/// kept from the forward pass.
package struct ReluGradient: BinaryElementwise {
    package static let name = "relu_gradient"
    package func gradients(_ backward: Backward) -> [Tensor?] {
        let y = backward.inputs[1]
        return [y.graph.apply(ReluGradient(), [backward.gradient, y]), nil]
    }
}

/// x above 0, `negativeSlope`·x elsewhere (`torch.nn.functional.leaky_relu`).
public struct LeakyRelu: UnaryElementwise {
    public static let name = "leaky_relu"
    package let negativeSlope: Float

    public func gradients(_ backward: Backward) -> [Tensor?] {
        let positive = greater(backward.inputs[0], 0)
        return [backward.gradient * (positive * (1 - negativeSlope) + negativeSlope)]
    }
}

/// min(max(x, 0), 6) (`torch.nn.functional.relu6`), with gradient 0 at 0 and at 6.
public struct Relu6: UnaryElementwise {
    public static let name = "relu6"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        let x = backward.inputs[0]
        return [backward.gradient * greater(x, 0) * greater(6, x)]
    }
}

/// x · relu6(x + 3) / 6 (`torch.nn.functional.hardswish`), with gradient 0 at −3 and 1 at 3.
public struct HardSwish: UnaryElementwise {
    public static let name = "hardswish"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        let x = backward.inputs[0]
        let middle = greater(x, -3) * greater(3, x)
        return [backward.gradient * (middle * (x / 3 + 0.5) + greaterOrEqual(x, 3))]
    }
}

/// 1 / (1 + e⁻ˣ) (`torch.sigmoid`).
public struct Sigmoid: UnaryElementwise {
    public static let name = "sigmoid"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        let y = backward.output
        return [backward.gradient * y * (1 - y)]
    }
}

/// The hyperbolic tangent (`torch.tanh`).
public struct Tanh: UnaryElementwise {
    public static let name = "tanh"
    public func gradients(_ backward: Backward) -> [Tensor?] {
        let y = backward.output
        return [backward.gradient * (1 - y * y)]
    }
}

public func relu(_ x: Tensor) -> Tensor { x.applying(Relu()) }
public func leakyRelu(_ x: Tensor, negativeSlope: Float = 0.01) -> Tensor {
    x.applying(LeakyRelu(negativeSlope: negativeSlope))
}
public func relu6(_ x: Tensor) -> Tensor { x.applying(Relu6()) }
public func hardSwish(_ x: Tensor) -> Tensor { x.applying(HardSwish()) }
public func sigmoid(_ x: Tensor) -> Tensor { x.applying(Sigmoid()) }
public func tanh(_ x: Tensor) -> Tensor { x.applying(Tanh()) }
