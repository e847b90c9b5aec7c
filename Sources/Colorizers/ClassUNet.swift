import Layers
import TensorGraph

/// A residual U-Net that, like ECCV16, answers with a distribution over the 313 ab bins at a
/// quarter of the size: it can be unsure between two colors without mixing them to brown.
public final class ClassUNet: Module, ColorizerNetwork, ColorClassifier {
    public static let architecture = "class-unet"
    public static let requiredMultiple = 32
    public static let annealsMean = true

    let stem, stage4, stage8, stage16, stage32: Sequential
    let context: Sequential
    let up16, up8, up4: UpBlock
    let classes: Conv2d
    let decoder: BinDecoder

    public init(options: ColorizerOptions = .init()) {
        let widths = [32, 64, 128, 192, 256].map(options.scaled)
        stem = convolution(1, widths[0], kernel: 3, stride: 2)
        stage4 = residualStage(widths[0], widths[1], count: options.repeated(2))
        stage8 = residualStage(widths[1], widths[2], count: options.repeated(3))
        stage16 = residualStage(widths[2], widths[3], count: options.repeated(2))
        stage32 = residualStage(widths[3], widths[4], count: options.repeated(1))
        context = globalContext(widths[4])
        up16 = UpBlock(widths[4], widths[3], fusing: convolution)
        up8 = UpBlock(widths[3], widths[2], fusing: convolution)
        up4 = UpBlock(widths[2], widths[1], fusing: convolution)
        let small = Initializer.normal(mean: 0, deviation: 0.01)
        classes = Conv2d(widths[1], ECCV16.binCount, kernel: 1, initializer: small)
        decoder = BinDecoder(options)
        super.init()
        assignNames()
    }

    public func predictions(_ lightness: Tensor) -> ColorPrediction {
        checkInput(lightness)
        let quarter = stage4(stem(normalized(lightness)))
        let eighth = stage8(quarter)
        let sixteenth = stage16(eighth)
        let deepest = stage32(sixteenth)
        var x = up16(deepest + context(deepest), skip: sixteenth)
        x = up8(x, skip: eighth)
        return decoder.prediction(classes(up4(x, skip: quarter)))
    }
}
