import TensorGraph

/// max(x, 0) (`torch.nn.ReLU`).
public final class ReLU: Module, Layer {
    public func forward(_ x: Tensor) -> Tensor { relu(x) }
}

/// x above 0, a part of it below (`torch.nn.LeakyReLU`).
public final class LeakyReLU: Module, Layer {
    public let negativeSlope: Float

    public init(negativeSlope: Float = 0.01) {
        self.negativeSlope = negativeSlope
    }

    public func forward(_ x: Tensor) -> Tensor { leakyRelu(x, negativeSlope: negativeSlope) }
}

/// min(max(x, 0), 6) (`torch.nn.ReLU6`).
public final class ReLU6: Module, Layer {
    public func forward(_ x: Tensor) -> Tensor { relu6(x) }
}

/// x · relu6(x + 3) / 6 (`torch.nn.Hardswish`).
public final class Hardswish: Module, Layer {
    public func forward(_ x: Tensor) -> Tensor { hardSwish(x) }
}

/// 1 / (1 + e⁻ˣ) (`torch.nn.Sigmoid`).
public final class SigmoidLayer: Module, Layer {
    public func forward(_ x: Tensor) -> Tensor { sigmoid(x) }
}

/// The hyperbolic tangent (`torch.nn.Tanh`).
public final class TanhLayer: Module, Layer {
    public func forward(_ x: Tensor) -> Tensor { tanh(x) }
}

/// eˣ / Σ eˣ along an axis (`torch.nn.Softmax`).
public final class SoftmaxLayer: Module, Layer {
    public let axis: Int

    public init(axis: Int = 1) {
        self.axis = axis
    }

    public func forward(_ x: Tensor) -> Tensor { softmax(x, axis: axis) }
}
