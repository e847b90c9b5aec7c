import RetintGraph

/// max(x, 0) (`torch.nn.ReLU`).
public final class ReLU: Module, Layer {
    /// Applies the function to each element, in any shape.
    public func forward(_ x: Tensor) -> Tensor { relu(x) }
}

/// x above 0, `negativeSlope`·x below (`torch.nn.LeakyReLU`).
public final class LeakyReLU: Module, Layer {
    /// The slope below 0.
    public let negativeSlope: Float

    /// Creates the layer.
    ///
    /// - Parameter negativeSlope: the slope below 0.
    public init(negativeSlope: Float = 0.01) {
        self.negativeSlope = negativeSlope
    }

    /// Applies the function to each element, in any shape.
    public func forward(_ x: Tensor) -> Tensor { leakyRelu(x, negativeSlope: negativeSlope) }
}

/// The hyperbolic tangent (`torch.nn.Tanh`).
public final class TanhLayer: Module, Layer {
    /// Applies the function to each element, in any shape.
    public func forward(_ x: Tensor) -> Tensor { tanh(x) }
}
