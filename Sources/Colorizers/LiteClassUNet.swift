import Layers
import TensorGraph

/// ``LiteUNet``'s encoder with ``ClassUNet``'s output, a distribution over the 313 ab bins at a
/// quarter of the size: more vivid than a regression, which averages likely colors to gray or
/// brown.
public final class LiteClassUNet: Module, ColorizerNetwork, ColorClassifier {
    public static let architecture = "lite-class-unet"
    public static let requiredMultiple = 32
    public static var options: Set<PartialKeyPath<ColorizerOptions>> {
        [\.width, \.depth, \.decoderWidth, \.temperature, \.chromaScale]
    }

    let encoder: EfficientNetLite
    let unet: UNetDecoder
    let classes: Conv2d
    let decoder: BinDecoder

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

    public func predictions(_ lightness: Tensor) -> ColorPrediction {
        checkInput(lightness)
        let features = encoder(LabScaling.normalize(lightness: lightness))
        return decoder.prediction(classes(unet(Array(features[1...]))))
    }
}
