import RetintGraph
import RetintLayers

/// A U-Net whose encoder is EfficientNet-Lite, which can start from weights pretrained on ImageNet,
/// with a small decoder that ends at half the size.
///
/// `Scripts/recipes/pretrained_encoder.py` writes such weights. Imported without requiring all
/// tensors, they are a checkpoint to train from.
public final class LiteUNet: Module, ColorizerArchitecture {
    /// The name in files and in ``NetworkDescription``: `lite-unet`.
    public static let architecture = "lite-unet"
    /// H and W of the input are multiples of 32: the encoder halves the size five times.
    public static let requiredMultiple = 32
    /// The options that the network uses: `width`, `depth` and `decoderWidth`.
    public static var options: Set<PartialKeyPath<ColorizerOptions>> {
        [\.width, \.depth, \.decoderWidth]
    }

    let encoder: EfficientNetLite
    let unet: UNetDecoder
    let head: Sequential

    /// Creates the network and names its parameters, which hold no values (see `Parameter`).
    ///
    /// The encoder is EfficientNet-Lite0 by default, and Lite2 with a width of 1.1 and a depth of
    /// 1.2.
    ///
    /// - Parameter options: `width`, `depth` and `decoderWidth` are used, the others ignored.
    public init(options: ColorizerOptions = .init()) {
        encoder = EfficientNetLite(width: options.width, depth: options.depth)
        let widths = [16, 32, 64, 112].map(options.scaledInDecoder)
        unet = UNetDecoder(features: encoder.channels, widths: widths) { stride, channels in
            stride == 16 ? separable(channels) : convolution(channels)
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
        let features = encoder(LabScaling.normalize(lightness: lightness))
        return LabScaling.denormalize(ab: head(unet(features)))
    }
}
