import RetintGraph
import RetintLayers

/// ResNet's basic block (He et al. 2016): two 3×3 convolutions, the input added before the last
/// ReLU.
public final class ResidualBlock: Module, Layer {
    let first, second: Sequential

    /// Creates a block with `channels` inputs and as many outputs.
    public init(_ channels: Int) {
        first = convolution(channels)
        second = convolution(channels, channels, kernel: 3, activates: false)
    }

    /// Applies the block: [N, C, H, W] → [N, C, H, W].
    public func forward(_ x: Tensor) -> Tensor { relu(second(first(x)) + x) }
}

/// A 3×3 convolution that halves the size, then `count` residual blocks.
public func residualStage(_ inputs: Int, _ outputs: Int, count: Int) -> Sequential {
    Sequential(
        [convolution(inputs, outputs, kernel: 3, stride: 2)]
            + (0..<count).map { _ in ResidualBlock(outputs) })
}
