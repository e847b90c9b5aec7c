import RetintGraph
import RetintLayers

/// ``LiteUNet``'s encoder with ``ClassUNet``'s output, a distribution over the 313 ab bins at a
/// quarter of the size: more vivid than a regression, which averages likely colors to gray or
/// brown.
public final class LiteClassUNet: Module, ColorizerArchitecture, ColorClassifier {
    /// The name in files and in ``NetworkDescription``: `lite-class-unet`.
    public static let architecture = "lite-class-unet"
    /// H and W of the input are multiples of 32: the encoder halves the size five times.
    public static let requiredMultiple = 32
    /// The options that the network uses: `width`, `depth`, `decoderWidth`, `temperature`,
    /// `chromaScale`, `vividChromaScale`, `certainty` and `neutrality`.
    public static var options: Set<PartialKeyPath<ColorizerOptions>> {
        [
            \.width, \.depth, \.decoderWidth, \.temperature, \.chromaScale, \.vividChromaScale,
            \.certainty, \.neutrality,
        ]
    }

    let encoder: EfficientNetLite
    let unet: UNetDecoder
    let classes: Conv2d
    let decoder: BinDecoder

    /// Creates the network and names its parameters, which hold no values (see `Parameter`).
    ///
    /// The encoder is EfficientNet-Lite0 by default, and Lite2 with a width of 1.1 and a depth of
    /// 1.2.
    ///
    /// - Parameter options: `width`, `depth`, `decoderWidth`, `temperature`, `chromaScale`,
    ///   `certainty` and `neutrality` are used, the others ignored.
    public init(options: ColorizerOptions = .init()) {
        encoder = EfficientNetLite(width: options.width, depth: options.depth)
        let widths = [64, 80, 112].map(options.scaledInDecoder)
        unet = UNetDecoder(features: Array(encoder.channels[1...]), widths: widths) {
            stride, channels in
            stride == 16 ? separable(channels) : convolution(channels)
        }
        classes = binClassifier(widths[0])
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
        let features = encoder(LabScaling.normalize(lightness: lightness))
        return decoder.prediction(classes(unet(Array(features[1...]))))
    }
}
