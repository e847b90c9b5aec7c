import Layers
import TensorGraph

/// A U-Net on EfficientNet-Lite: an encoder that can start from what it learned on ImageNet, which
/// knows sky, leaves and skin already, and a small decoder that ends at half the size.
///
/// `Scripts/recipes/pretrained_encoder.py` writes such an encoder's weights; `retint import
/// --non-strict` turns them into a checkpoint to start from.
public final class LiteUNet: Module, ColorizerNetwork {
    public static let architecture = "lite-unet"
    public static let requiredMultiple = 32
    public static let scalesDecoder = true

    let encoder: EfficientNetLite
    let context: Sequential
    let lateral2, lateral4, lateral8, lateral16: Sequential
    let up16, up8, up4, up2: UpBlock
    let head: Sequential

    public init(options: ColorizerOptions = .init()) {
        encoder = EfficientNetLite(width: options.width, depth: options.depth)
        let features = encoder.channels
        let widths = [16, 32, 64, 112].map(options.scaledInDecoder)
        func lateral(_ level: Int) -> Sequential {
            convolution(features[level], widths[level], kernel: 1, activates: false)
        }
        context = globalContext(features[4])
        (lateral2, lateral4, lateral8, lateral16) = (lateral(0), lateral(1), lateral(2), lateral(3))
        up16 = UpBlock(features[4], widths[3], fusing: separable)
        up8 = UpBlock(widths[3], widths[2], fusing: convolution)
        up4 = UpBlock(widths[2], widths[1], fusing: convolution)
        up2 = UpBlock(widths[1], widths[0], fusing: convolution)
        head = colorHead(widths[0], doublings: 1)
        super.init()
        assignNames()
    }

    public func forward(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        let features = encoder(normalized(lightness))
        let deepest = features[4]
        var x = up16(deepest + context(deepest), skip: lateral16(features[3]))
        x = up8(x, skip: lateral8(features[2]))
        x = up4(x, skip: lateral4(features[1]))
        x = up2(x, skip: lateral2(features[0]))
        return head(x) * abScale
    }
}
