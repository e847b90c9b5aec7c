import Layers
import TensorGraph

/// A U-Net whose encoder is EfficientNet-Lite, which can start from weights pretrained on ImageNet,
/// with a small decoder that ends at half the size.
///
/// `Scripts/recipes/pretrained_encoder.py` writes such weights. Imported without requiring all
/// tensors, they are a checkpoint to train from.
public final class LiteUNet: Module, ColorizerNetwork {
    public static let architecture = "lite-unet"
    public static let requiredMultiple = 32
    public static var options: Set<PartialKeyPath<ColorizerOptions>> {
        [\.width, \.depth, \.decoderWidth]
    }

    let encoder: EfficientNetLite
    let unet: UNetDecoder
    let head: Sequential

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

    public func forward(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        let features = encoder(LabScaling.normalize(lightness: lightness))
        return LabScaling.denormalize(ab: head(unet(features)))
    }
}
