import RetintGraph
import RetintTensors

/// x·Wᵀ + b (`torch.nn.Linear`): [..., in] → [..., out].
public final class Linear: Module, Layer {
    /// [out, in].
    public let weight: Parameter
    /// [out]; nil without a bias.
    public let bias: Parameter?

    /// Creates the layer for `inputs` features that gives `outputs` features.
    ///
    /// - Parameter initializer: the weight's initial values, beside which the bias starts at zero;
    ///   PyTorch's default for both if nil.
    public init(_ inputs: Int, _ outputs: Int, bias: Bool = true, initializer: Initializer? = nil) {
        let shape: Shape = [outputs, inputs]
        self.weight = Parameter(shape, initializer: initializer ?? .standardWeight)
        self.bias = bias ? biasParameter(outputs, beside: shape, initializer) : nil
    }

    /// Multiplies by the weight and adds the bias: [..., in] → [..., out].
    public func forward(_ x: Tensor) -> Tensor {
        linear(
            weight.input(x), weight: weight.weight(in: x.graph), bias: bias?.tensor(in: x.graph))
    }
}
