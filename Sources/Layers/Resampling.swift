import TensorGraph

/// Larger pictures by a whole factor (`torch.nn.Upsample`, align_corners false).
public final class Upsample: Module, Layer {
    public enum Mode: Hashable, Sendable {
        case nearest, bilinear
    }

    public let scaleFactor: Int
    public let mode: Mode

    public init(scaleFactor: Int, mode: Mode = .nearest) {
        self.scaleFactor = scaleFactor
        self.mode = mode
    }

    public func forward(_ x: Tensor) -> Tensor {
        switch mode {
        case .nearest: upsampleNearest(x, factor: Pair(scaleFactor))
        case .bilinear: upsampleBilinear(x, factor: Pair(scaleFactor))
        }
    }
}

/// Channels to pixels (`torch.nn.PixelShuffle`): [N, C·f², H, W] → [N, C, H·f, W·f].
public final class PixelShuffleLayer: Module, Layer {
    public let factor: Int

    public init(_ factor: Int) {
        self.factor = factor
    }

    public func forward(_ x: Tensor) -> Tensor { pixelShuffle(x, factor: factor) }
}

/// The largest element of each window (`torch.nn.MaxPool2d`).
public final class MaxPool2d: Module, Layer {
    public let kernel: Pair
    public let stride: Pair
    public let padding: Padding

    /// - Parameter stride: the kernel's extent unless given.
    public init(kernel: Pair, stride: Pair? = nil, padding: Padding = 0) {
        self.kernel = kernel
        self.stride = stride ?? kernel
        self.padding = padding
    }

    public func forward(_ x: Tensor) -> Tensor {
        maxPool2d(x, kernel: kernel, stride: stride, padding: padding)
    }
}

/// The mean of each window, padding counted as zeros (`torch.nn.AvgPool2d`).
public final class AvgPool2d: Module, Layer {
    public let kernel: Pair
    public let stride: Pair
    public let padding: Padding

    /// - Parameter stride: the kernel's extent unless given.
    public init(kernel: Pair, stride: Pair? = nil, padding: Padding = 0) {
        self.kernel = kernel
        self.stride = stride ?? kernel
        self.padding = padding
    }

    public func forward(_ x: Tensor) -> Tensor {
        avgPool2d(x, kernel: kernel, stride: stride, padding: padding)
    }
}

/// The mean of each channel (`torch.nn.AdaptiveAvgPool2d(1)`): [N, C, H, W] → [N, C, 1, 1].
public final class GlobalAvgPool2d: Module, Layer {
    public func forward(_ x: Tensor) -> Tensor { globalAvgPool2d(x) }
}
