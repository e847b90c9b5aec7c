import RetintColor
import RetintGraph
import RetintLayers

/// The network of Zhang, Isola and Efros, "Colorful Image Colorization" (ECCV 2016): a distribution
/// over 313 ab bins at a quarter of the size, and the mean color under it.
///
/// 32,236,011 parameters, 41.77 G multiply-adds at 256×256.
public final class ECCV16: Module, ColorizerArchitecture, ColorClassifier {
    /// The name in files and in ``NetworkDescription``: `eccv16`.
    public static let architecture = "eccv16"
    /// H and W of the input are multiples of 8: the encoder halves the size three times.
    public static let requiredMultiple = 8
    /// The options that the network uses: `width`, `temperature` and `chromaScale`.
    public static var options: Set<PartialKeyPath<ColorizerOptions>> {
        [\.width, \.temperature, \.chromaScale, \.vividChromaScale]
    }

    let model1, model2, model3, model4, model5, model6, model7, model8: Sequential
    let modelOut: Conv2d
    private let temperature, chromaScale: Float

    /// Creates the network and names its parameters, which hold no values (see `Parameter`).
    ///
    /// - Parameter options: `width`, `temperature` and `chromaScale` are used, the others ignored.
    public init(options: ColorizerOptions = .init()) {
        let (c64, c128) = (options.scaled(64), options.scaled(128))
        let (c256, c512) = (options.scaled(256), options.scaled(512))
        let deep = [c512, c512, c512]
        let bins = ABBins.inGamut
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
                + [Conv2d(c256, bins.count, kernel: 1)])
        modelOut = Conv2d(
            bins.count, 2, kernel: 1, bias: false,
            initializer: .values(colorWeights(of: bins)))
        temperature = Float(options.temperature ?? 1)
        chromaScale = Float(options.chromaScale)
        super.init()
        assignNames()
    }

    /// Estimates colors, and the distributions over ab bins whose means they are.
    ///
    /// - Parameter lightness: L in 0…100, [N, 1, H, W], with H and W multiples of 8.
    /// - Returns: a and b, [N, 2, H, W], and the logits of the 313 bins, [N, 313, H/4, W/4].
    public func predictions(_ lightness: Tensor) -> ColorPrediction {
        checkInput(lightness)
        let stages = [model1, model2, model3, model4, model5, model6, model7, model8]
        let logits = stages.reduce(LabScaling.normalize(lightness: lightness)) { $1($0) }
        return ColorPrediction(ab: decode(logits), logits: logits)
    }

    /// The mean color under the bins' probabilities, [N, 2, H, W].
    private func decode(_ logits: Tensor) -> Tensor {
        let mean = annealedMean(logits, temperature: temperature) { modelOut($0) }
        return upsampleBilinear(mean, factor: 4) * (LabScaling.colorRange * chromaScale)
    }
}
