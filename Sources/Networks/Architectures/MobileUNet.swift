import RetintGraph
import RetintLayers

/// A small, fast colorizer: inverted residuals down to 1/32 of the size, a global context, and a
/// U-Net decoder that adds skips and doubles the size by bilinear interpolation.
///
/// It is designed for phones' accelerators: channels in multiples of 16, kernels of 3×3 and 1×1, a
/// batch normalization that folds into each convolution, no dilation, no transposed convolution.
/// Color is smooth, so the network ends at half the size.
public final class MobileUNet: Module, ColorizerArchitecture {
    /// The name in files and in ``NetworkDescription``: `mobile-unet`.
    public static let architecture = "mobile-unet"
    /// H and W of the input are multiples of 32: the encoder halves the size five times.
    public static let requiredMultiple = 32

    let stem, stage2: Sequential
    let stage4, stage8, stage16, stage32: Sequential
    let unet: UNetDecoder
    let head: Sequential

    /// Creates the network and names its parameters, which hold no values (see `Parameter`).
    ///
    /// - Parameter options: `width` and `depth` are used, the others ignored.
    public init(options: ColorizerOptions = .init()) {
        let widths = [16, 32, 64, 96, 160].map(options.scaled)
        stem = convolution(1, widths[0], kernel: 3, stride: 2)
        stage2 = convolution(widths[0], widths[0], kernel: 3)
        stage4 = Sequential(
            convolution(widths[0], widths[1], kernel: 3, stride: 2),
            InvertedResidual(widths[1], widths[1]))
        stage8 = invertedResiduals(widths[1], widths[2], count: options.repeated(2))
        stage16 = invertedResiduals(widths[2], widths[3], count: options.repeated(3))
        stage32 = invertedResiduals(widths[3], widths[4], count: options.repeated(3))
        unet = UNetDecoder(features: widths) { stride, channels in
            stride > 4 ? separable(channels) : convolution(channels)
        }
        head = colorHead(widths[0], doublings: 1)
        super.init()
        assignNames()
    }

    /// Estimates colors.
    ///
    /// - Parameter lightness: L in 0…100, [N, 1, H, W], with H and W multiples of 32.
    /// - Returns: a and b in −110…110, [N, 2, H, W].
    public func forward(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        let half = stage2(stem(LabScaling.normalize(lightness: lightness)))
        let features = pyramid(half, stage4, stage8, stage16, stage32)
        return LabScaling.denormalize(ab: head(unet(features)))
    }
}
