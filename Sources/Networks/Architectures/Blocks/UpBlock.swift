import RetintGraph
import RetintLayers

/// Doubles the size: a 1×1 convolution to fewer channels (cheaper before there are four times as
/// many pixels), bilinear interpolation, addition of the skip, and a filter.
public final class UpBlock: Module {
    let narrow: Sequential
    let upsample = Upsample(scaleFactor: 2, mode: .bilinear)
    let fuse: any Layer

    /// Creates a block from `inputs` channels to the channels of the skip, `outputs`.
    ///
    /// - Parameter fusing: creates the filter from its number of channels.
    public init(_ inputs: Int, _ outputs: Int, fusing: (Int) -> any Layer) {
        narrow = convolution(inputs, outputs, kernel: 1, activates: false)
        fuse = fusing(outputs)
    }

    /// [N, C, H, W] and a skip of [N, C′, 2H, 2W] to [N, C′, 2H, 2W].
    public func callAsFunction(_ x: Tensor, skip: Tensor) -> Tensor {
        scoped(in: x.graph) { fuse(upsample(narrow(x)) + skip) }
    }
}
