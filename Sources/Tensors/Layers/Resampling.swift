import RetintGraph

/// Upsamples [N, C, H, W] by an integer factor (`torch.nn.Upsample`, align_corners false).
public final class Upsample: Module, Layer {
    /// The interpolation mode.
    public enum Mode: Hashable, Sendable {
        /// Each pixel repeated, or linear interpolation in both directions.
        case nearest, bilinear
    }

    /// The factor for height and width.
    public let scaleFactor: Int
    /// The interpolation.
    public let mode: Mode

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - scaleFactor: the factor for height and width, at least 1.
    ///   - mode: the interpolation.
    public init(scaleFactor: Int, mode: Mode = .nearest) {
        self.scaleFactor = scaleFactor
        self.mode = mode
    }

    /// Upsamples images: [N, C, H, W] → [N, C, H·scaleFactor, W·scaleFactor].
    public func forward(_ x: Tensor) -> Tensor {
        switch mode {
        case .nearest: upsampleNearest(x, factor: Pair(scaleFactor))
        case .bilinear: upsampleBilinear(x, factor: Pair(scaleFactor))
        }
    }
}

/// The mean of each channel (`torch.nn.AdaptiveAvgPool2d(1)`): [N, C, H, W] → [N, C, 1, 1].
public final class GlobalAvgPool2d: Module, Layer {
    /// Averages over all pixels: [N, C, H, W] → [N, C, 1, 1].
    public func forward(_ x: Tensor) -> Tensor { globalAvgPool2d(x) }
}
