import Layers
import TensorGraph

/// A small, fast colorizer: inverted residuals down to 1/32 of the size, a global context, and a
/// U-Net decoder that adds skips and doubles the size by bilinear interpolation.
///
/// Made for phones' accelerators: channels in multiples of 16, kernels of 3×3 and 1×1, batch
/// normalization right behind each convolution, so that it folds, no dilation, no transposed
/// convolution. Color is smooth, so the network ends at half the size.
public final class MobileUNet: Module, ColorizerNetwork {
    public static let architecture = "mobile-unet"
    public static let requiredMultiple = 32

    let stem, stage2: Sequential
    let stage4, stage8, stage16, stage32: Sequential
    let context: Sequential
    let up16, up8, up4, up2: UpBlock
    let head: Sequential

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
        context = globalContext(widths[4])
        up16 = UpBlock(widths[4], widths[3], fusing: separable)
        up8 = UpBlock(widths[3], widths[2], fusing: separable)
        up4 = UpBlock(widths[2], widths[1], fusing: convolution)
        up2 = UpBlock(widths[1], widths[0], fusing: convolution)
        head = colorHead(widths[0], doublings: 1)
        super.init()
        assignNames()
    }

    public func forward(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        let half = stage2(stem(normalized(lightness)))
        let quarter = stage4(half)
        let eighth = stage8(quarter)
        let sixteenth = stage16(eighth)
        let deepest = stage32(sixteenth)
        var x = up16(deepest + context(deepest), skip: sixteenth)
        x = up8(x, skip: eighth)
        x = up4(x, skip: quarter)
        x = up2(x, skip: half)
        return head(x) * abScale
    }
}
