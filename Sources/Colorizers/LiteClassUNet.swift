import Layers
import TensorGraph

/// A U-Net on EfficientNet-Lite, as ``LiteUNet``, that answers with a distribution over the 313 ab
/// bins at a quarter of the size, as ``ClassUNet``: its colors are livelier than those of a
/// regression, which mixes what it cannot tell apart to gray or brown.
public final class LiteClassUNet: Module, ColorizerNetwork, ColorClassifier {
    public static let architecture = "lite-class-unet"
    public static let requiredMultiple = 32
    public static let scalesDecoder = true
    public static let annealsMean = true

    let encoder: EfficientNetLite
    let context: Sequential
    let lateral4, lateral8, lateral16: Sequential
    let up16, up8, up4: UpBlock
    let classes: Conv2d
    let decoder: BinDecoder

    public init(options: ColorizerOptions = .init()) {
        encoder = EfficientNetLite(width: options.width, depth: options.depth)
        let features = encoder.channels
        let widths = [64, 80, 112].map(options.scaledInDecoder)
        func lateral(_ level: Int) -> Sequential {
            convolution(features[level + 1], widths[level], kernel: 1, activates: false)
        }
        context = globalContext(features[4])
        (lateral4, lateral8, lateral16) = (lateral(0), lateral(1), lateral(2))
        up16 = UpBlock(features[4], widths[2], fusing: separable)
        up8 = UpBlock(widths[2], widths[1], fusing: convolution)
        up4 = UpBlock(widths[1], widths[0], fusing: convolution)
        let small = Initializer.normal(mean: 0, deviation: 0.01)
        classes = Conv2d(widths[0], ECCV16.binCount, kernel: 1, initializer: small)
        decoder = BinDecoder(options)
        super.init()
        assignNames()
    }

    public func predictions(_ lightness: Tensor) -> ColorPrediction {
        checkInput(lightness)
        let features = encoder(normalized(lightness))
        let deepest = features[4]
        var x = up16(deepest + context(deepest), skip: lateral16(features[3]))
        x = up8(x, skip: lateral8(features[2]))
        return decoder.prediction(classes(up4(x, skip: lateral4(features[1]))))
    }
}
