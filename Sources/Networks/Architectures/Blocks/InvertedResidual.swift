import RetintGraph
import RetintLayers

/// MobileNetV2's block (Sandler et al. 2018): a 1×1 convolution to more channels, a 3×3 depthwise
/// one, and a 1×1 convolution to fewer; the input is added if it has the output's shape.
public final class InvertedResidual: Module, Layer {
    let expand, depthwise, project: Sequential
    private let keepsShape: Bool

    /// Creates a block.
    ///
    /// - Parameters:
    ///   - inputs: the number of input channels.
    ///   - outputs: the number of output channels.
    ///   - stride: the stride of the depthwise convolution; the input is added only with a stride
    ///     of 1.
    ///   - expansion: the channels of the depthwise convolution for each input channel.
    public init(_ inputs: Int, _ outputs: Int, stride: Int = 1, expansion: Int = 4) {
        let wide = inputs * expansion
        expand = convolution(inputs, wide, kernel: 1)
        depthwise = convolution(wide, wide, kernel: 3, stride: Pair(stride), groups: wide)
        project = convolution(wide, outputs, kernel: 1, activates: false)
        keepsShape = stride == 1 && inputs == outputs
    }

    /// Applies the block: [N, in, H, W] → [N, out, ⌈H/stride⌉, ⌈W/stride⌉].
    public func forward(_ x: Tensor) -> Tensor {
        let y = project(depthwise(expand(x)))
        return keepsShape ? x + y : y
    }
}

/// `count` inverted residuals, the first of which halves the size.
public func invertedResiduals(_ inputs: Int, _ outputs: Int, count: Int) -> Sequential {
    Sequential(
        (0..<count).map { index in
            InvertedResidual(index == 0 ? inputs : outputs, outputs, stride: index == 0 ? 2 : 1)
        })
}
