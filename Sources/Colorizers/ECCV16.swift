import ColorScience
import Layers
import TensorGraph

/// The network of Zhang, Isola and Efros, "Colorful Image Colorization" (ECCV 2016): a distribution
/// over 313 ab bins at a quarter of the size, and the mean color under it.
///
/// 32,236,011 parameters, 41.77 G multiply-adds at 256×256.
public final class ECCV16: Module, ColorizerNetwork, ColorClassifier {
    public static let architecture = "eccv16"
    public static let requiredMultiple = 8
    public static let annealsMean = true
    /// How many ab bins the classification knows.
    public static let binCount = ABBins.inGamut.count

    let model1, model2, model3, model4, model5, model6, model7, model8: Sequential
    let modelOut: Conv2d
    private let temperature, saturation: Float

    public init(options: ColorizerOptions = .init()) {
        let (c64, c128) = (options.scaled(64), options.scaled(128))
        let (c256, c512) = (options.scaled(256), options.scaled(512))
        let deep = [c512, c512, c512]
        model1 = Sequential(stage(1, [c64, c64], stride: 2))
        model2 = Sequential(stage(c64, [c128, c128], stride: 2))
        model3 = Sequential(stage(c128, [c256, c256, c256], stride: 2))
        model4 = Sequential(stage(c256, deep))
        model5 = Sequential(stage(c512, deep, dilation: 2))
        model6 = Sequential(stage(c512, deep, dilation: 2))
        model7 = Sequential(stage(c512, deep))
        let up = ConvTranspose2d(c512, c256, kernel: 4, stride: 2, padding: 1)
        model8 = Sequential(
            [up, ReLU()] + stage(c256, [c256, c256], normalizes: false)
                + [Conv2d(c256, Self.binCount, kernel: 1)])
        modelOut = Conv2d(
            Self.binCount, 2, kernel: 1, bias: false,
            initializer: .values(BinDecoder.weight(of: .inGamut)))
        temperature = Float(options.temperature ?? 1)
        saturation = Float(options.saturation)
        super.init()
        assignNames()
    }

    public func predictions(_ lightness: Tensor) -> ColorPrediction {
        let logits = logits(lightness)
        return ColorPrediction(ab: decode(logits), logits: logits)
    }

    /// The unnormalized log-probabilities of the ab bins, [N, 313, H/4, W/4].
    public func logits(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        let stages = [model1, model2, model3, model4, model5, model6, model7, model8]
        return stages.reduce(normalized(lightness)) { $1($0) }
    }

    /// The mean color under the bins' probabilities, [N, 2, H, W].
    public func decode(_ logits: Tensor) -> Tensor {
        let sharpened = temperature == 1 ? logits : logits * (1 / temperature)
        let mean = modelOut(softmax(sharpened, axis: 1))
        return upsampleBilinear(mean, factor: 4) * (abScale * saturation)
    }
}
