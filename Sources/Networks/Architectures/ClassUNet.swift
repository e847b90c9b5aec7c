import RetintGraph
import RetintLayers

/// A residual U-Net that, like ECCV16, predicts a distribution over the 313 ab bins at a quarter of
/// the size: if two colors are likely, it does not mix them to brown.
public final class ClassUNet: Module, ColorizerArchitecture, ColorClassifier {
    /// The name in files and in ``NetworkDescription``: `class-unet`.
    public static let architecture = "class-unet"
    /// H and W of the input are multiples of 32: the encoder halves the size five times.
    public static let requiredMultiple = 32
    /// The options that the network uses: `width`, `depth`, `temperature`, `chromaScale`,
    /// `vividChromaScale`, `certainty` and `neutrality`.
    public static var options: Set<PartialKeyPath<ColorizerOptions>> {
        [
            \.width, \.depth, \.temperature, \.chromaScale, \.vividChromaScale, \.certainty,
            \.neutrality,
        ]
    }

    let stem, stage4, stage8, stage16, stage32: Sequential
    let unet: UNetDecoder
    let classes: Conv2d
    let decoder: BinDecoder

    /// Creates the network and names its parameters, which hold no values (see `Parameter`).
    ///
    /// - Parameter options: `width`, `depth`, `temperature`, `chromaScale`, `certainty` and
    ///   `neutrality` are used, the others ignored.
    public init(options: ColorizerOptions = .init()) {
        let widths = [32, 64, 128, 192, 256].map(options.scaled)
        stem = convolution(1, widths[0], kernel: 3, stride: 2)
        stage4 = residualStage(widths[0], widths[1], count: options.repeated(2))
        stage8 = residualStage(widths[1], widths[2], count: options.repeated(3))
        stage16 = residualStage(widths[2], widths[3], count: options.repeated(2))
        stage32 = residualStage(widths[3], widths[4], count: options.repeated(1))
        unet = UNetDecoder(features: Array(widths[1...])) { _, channels in convolution(channels) }
        classes = binClassifier(widths[1])
        decoder = BinDecoder(options)
        super.init()
        assignNames()
    }

    /// Estimates colors, and the distributions over ab bins whose means they are.
    ///
    /// - Parameter lightness: L in 0…100, [N, 1, H, W], with H and W multiples of 32.
    /// - Returns: a and b, [N, 2, H, W], and the logits of the 313 bins, [N, 313, H/4, W/4].
    public func predictions(_ lightness: Tensor) -> ColorPrediction {
        checkInput(lightness)
        let quarter = stage4(stem(LabScaling.normalize(lightness: lightness)))
        let features = pyramid(quarter, stage8, stage16, stage32)
        return decoder.prediction(classes(unet(features)))
    }
}
