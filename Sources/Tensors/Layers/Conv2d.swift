import RetintGraph
import RetintTensors

/// A 2-D convolution (`torch.nn.Conv2d`): [N, in, H, W] → [N, out, H′, W′].
public final class Conv2d: Module, Layer {
    /// [out, in/groups, kernel height, kernel width].
    public let weight: Parameter
    /// [out]; nil without a bias.
    public let bias: Parameter?
    /// Stride, padding and dilation.
    public let window: Window
    /// The number of groups of channels that are convolved separately.
    public let groups: Int

    /// Creates a convolution with the defaults of `torch.nn.Conv2d`.
    ///
    /// - Parameter initializer: the weight's initial values, beside which the bias starts at zero;
    ///   PyTorch's default for both if nil.
    public init(
        _ inputs: Int, _ outputs: Int, kernel: Pair, stride: Pair = 1, padding: Padding = 0,
        dilation: Pair = 1, groups: Int = 1, bias: Bool = true, initializer: Initializer? = nil
    ) {
        let shape: Shape = [outputs, inputs / max(groups, 1), kernel.height, kernel.width]
        self.weight = Parameter(shape, initializer: initializer ?? .standardWeight)
        self.bias = bias ? biasParameter(outputs, beside: shape, initializer) : nil
        self.window = Window(stride: stride, padding: padding, dilation: dilation)
        self.groups = groups
    }

    /// Convolves images: [N, in, H, W] → [N, out, H′, W′].
    ///
    /// H′ = ⌊(H + top + bottom − dilation·(kernel − 1) − 1)/stride⌋ + 1, where top and bottom are
    /// the padding's; W′ likewise.
    public func forward(_ x: Tensor) -> Tensor {
        conv2d(
            weight.input(x), weight: weight.weight(in: x.graph), bias: bias?.tensor(in: x.graph),
            stride: window.stride, padding: window.padding, dilation: window.dilation,
            groups: groups)
    }
}

/// A transposed convolution (`torch.nn.ConvTranspose2d`): [N, in, H, W] → [N, out, H′, W′].
public final class ConvTranspose2d: Module, Layer {
    /// [in, out/groups, kernel height, kernel width].
    public let weight: Parameter
    /// [out]; nil without a bias.
    public let bias: Parameter?
    /// Stride, padding and dilation.
    public let window: Window
    /// Rows and columns added to one side of the output.
    public let outputPadding: Pair
    /// The number of groups of channels that are convolved separately.
    public let groups: Int

    /// Creates a transposed convolution with the defaults of `torch.nn.ConvTranspose2d`.
    ///
    /// - Parameter initializer: the weight's initial values, beside which the bias starts at zero;
    ///   PyTorch's default for both if nil.
    public init(
        _ inputs: Int, _ outputs: Int, kernel: Pair, stride: Pair = 1, padding: Padding = 0,
        outputPadding: Pair = 0, dilation: Pair = 1, groups: Int = 1, bias: Bool = true,
        initializer: Initializer? = nil
    ) {
        let shape: Shape = [inputs, outputs / max(groups, 1), kernel.height, kernel.width]
        self.weight = Parameter(shape, initializer: initializer ?? .standardWeight)
        self.bias = bias ? biasParameter(outputs, beside: shape, initializer) : nil
        self.window = Window(stride: stride, padding: padding, dilation: dilation)
        self.outputPadding = outputPadding
        self.groups = groups
    }

    /// Applies the transposed convolution: [N, in, H, W] → [N, out, H′, W′].
    ///
    /// H′ = (H − 1)·stride − top − bottom + dilation·(kernel − 1) + outputPadding + 1, where top
    /// and bottom are the padding's; W′ likewise.
    public func forward(_ x: Tensor) -> Tensor {
        convTranspose2d(
            weight.input(x), weight: weight.weight(in: x.graph, outputAxis: 1),
            bias: bias?.tensor(in: x.graph),
            stride: window.stride, padding: window.padding, outputPadding: outputPadding,
            dilation: window.dilation, groups: groups)
    }
}

/// A bias with PyTorch's initial values, or zeros beside a weight with a given initializer.
func biasParameter(
    _ count: Int, beside weight: Shape, _ initializer: Initializer?
) -> Parameter {
    let standard = Initializer.standardBias(weight: weight)
    return Parameter([count], initializer: initializer == nil ? standard : .zeros)
}
