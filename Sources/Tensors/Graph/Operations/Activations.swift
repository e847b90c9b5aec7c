/// max(x, 0) (`torch.relu`), with gradient 0 at 0.
package struct Relu: UnaryElementwise {
    package static let name = "relu"
    package func formula(_ x: Formula) -> Formula { .max(x, 0) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient.graph.apply(ReluGradient(), [backward.gradient, backward.output])]
    }
}

/// dy where y is above 0, else 0 (PyTorch's `threshold_backward`): one operation, so that no mask
/// is kept from the forward pass.
package struct ReluGradient: BinaryElementwise {
    package static let name = "relu_gradient"
    package func formula(_ dy: Formula, _ y: Formula) -> Formula { .ifPositive(y, dy, 0) }
    package func gradients(_ backward: Backward) -> [Tensor?] { [again(backward), nil] }
}

/// dy where y is above 0 and below 6, else 0 (PyTorch's `hardtanh_backward`, from the result).
package struct Relu6Gradient: BinaryElementwise {
    package static let name = "relu6_gradient"
    package func formula(_ dy: Formula, _ y: Formula) -> Formula {
        .ifPositive(y, .ifPositive(6 - y, dy, 0), 0)
    }
    package func gradients(_ backward: Backward) -> [Tensor?] { [again(backward), nil] }
}

/// dy where y is above 0, else `negativeSlope`·dy (PyTorch's `leaky_relu_backward`, from the
/// result).
package struct LeakyReluGradient: BinaryElementwise {
    package static let name = "leaky_relu_gradient"
    package let negativeSlope: Float

    package func formula(_ dy: Formula, _ y: Formula) -> Formula {
        .ifPositive(y, dy, dy * Formula(negativeSlope))
    }
    package func gradients(_ backward: Backward) -> [Tensor?] { [again(backward), nil] }
}

extension BinaryElementwise {
    /// The operation on the gradient of its first input and its second one: the gradient of the
    /// first, if the operation is linear in it.
    fileprivate func again(_ backward: Backward) -> Tensor {
        backward.gradient.graph.apply(self, [backward.gradient, backward.inputs[1]])
    }
}

/// x above 0, `negativeSlope`·x elsewhere (`torch.nn.functional.leaky_relu`).
package struct LeakyRelu: UnaryElementwise {
    package static let name = "leaky_relu"
    package let negativeSlope: Float

    package func formula(_ x: Formula) -> Formula {
        .ifPositive(x, x, x * Formula(negativeSlope))
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let dy = backward.gradient
        // The result has the sign of x, unless the slope turns it around.
        let x = negativeSlope < 0 ? backward.inputs[0] : backward.output
        return [dy.graph.apply(LeakyReluGradient(negativeSlope: negativeSlope), [dy, x])]
    }
}

/// min(max(x, 0), 6) (`torch.nn.functional.relu6`), with gradient 0 at 0 and at 6.
package struct Relu6: UnaryElementwise {
    package static let name = "relu6"
    package func formula(_ x: Formula) -> Formula { x.clipped(0, 6) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient.graph.apply(Relu6Gradient(), [backward.gradient, backward.output])]
    }
}

/// x · relu6(x + 3) / 6 (`torch.nn.functional.hardswish`), with gradient 0 at −3 and 1 at 3.
package struct HardSwish: UnaryElementwise {
    package static let name = "hardswish"
    package func formula(_ x: Formula) -> Formula { x * (x + 3).clipped(0, 6) / 6 }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        let x = backward.inputs[0]
        let middle = greater(x, -3) * greater(3, x)
        return [backward.gradient * (middle * (x / 3 + 0.5) + greaterOrEqual(x, 3))]
    }
}

/// 1 / (1 + e⁻ˣ) (`torch.sigmoid`).
package struct Sigmoid: UnaryElementwise {
    package static let name = "sigmoid"
    package func formula(_ x: Formula) -> Formula { 1 / (1 + .exp(-x)) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        let y = backward.output
        return [backward.gradient * y * (1 - y)]
    }
}

/// The hyperbolic tangent (`torch.tanh`).
package struct Tanh: UnaryElementwise {
    package static let name = "tanh"
    package func formula(_ x: Formula) -> Formula { .unary(.tanh, x) }
    package func gradients(_ backward: Backward) -> [Tensor?] {
        let y = backward.output
        return [backward.gradient * (1 - y * y)]
    }
}

/// max(x, 0) (`torch.relu`).
public func relu(_ x: Tensor) -> Tensor { x.applying(Relu()) }
/// x where it is positive, `negativeSlope`·x elsewhere (`torch.nn.functional.leaky_relu`).
public func leakyRelu(_ x: Tensor, negativeSlope: Float = 0.01) -> Tensor {
    x.applying(LeakyRelu(negativeSlope: negativeSlope))
}
/// min(max(x, 0), 6) (`torch.nn.functional.relu6`).
public func relu6(_ x: Tensor) -> Tensor { x.applying(Relu6()) }
/// x · relu6(x + 3) / 6 (`torch.nn.functional.hardswish`).
public func hardSwish(_ x: Tensor) -> Tensor { x.applying(HardSwish()) }
/// 1 / (1 + e⁻ˣ) (`torch.sigmoid`).
public func sigmoid(_ x: Tensor) -> Tensor { x.applying(Sigmoid()) }
/// The hyperbolic tangent (`torch.tanh`).
public func tanh(_ x: Tensor) -> Tensor { x.applying(Tanh()) }
