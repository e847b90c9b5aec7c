import Layers
import TensorGraph

/// Twice the size: narrow by 1×1 (cheaper before the pixels are four times as many), interpolate,
/// add the skip, filter.
public final class UpBlock: Module {
    let narrow: Sequential
    let upsample = Upsample(scaleFactor: 2, mode: .bilinear)
    let fuse: any Layer

    /// - Parameter fusing: makes the filter of so many channels.
    public init(_ inputs: Int, _ outputs: Int, fusing: (Int) -> any Layer) {
        narrow = convolution(inputs, outputs, kernel: 1, activates: false)
        fuse = fusing(outputs)
    }

    public func callAsFunction(_ x: Tensor, skip: Tensor) -> Tensor {
        scoped(in: x.graph) { fuse(upsample(narrow(x)) + skip) }
    }
}
