import Layers
import TensorGraph

/// The smallest colorizer here: a U-Net of depthwise-separable convolutions that ends at a quarter
/// of the size, for video on weak devices or as a first try of a recipe.
public final class PicoUNet: Module, ColorizerNetwork {
    public static let architecture = "pico-unet"
    public static let requiredMultiple = 32

    let stem: Sequential
    let stage4, stage8, stage16, stage32: Sequential
    let context: Sequential
    let up16, up8, up4: UpBlock
    let head: Sequential

    public init(options: ColorizerOptions = .init()) {
        let widths = [16, 32, 48, 64, 96].map(options.scaled)
        stem = convolution(1, widths[0], kernel: 3, stride: 2)
        stage4 = separables(widths[0], widths[1], count: 1)
        stage8 = separables(widths[1], widths[2], count: options.repeated(2))
        stage16 = separables(widths[2], widths[3], count: options.repeated(3))
        stage32 = separables(widths[3], widths[4], count: options.repeated(3))
        context = globalContext(widths[4])
        up16 = UpBlock(widths[4], widths[3], fusing: separable)
        up8 = UpBlock(widths[3], widths[2], fusing: separable)
        up4 = UpBlock(widths[2], widths[1], fusing: separable)
        head = colorHead(widths[1], doublings: 2)
        super.init()
        assignNames()
    }

    public func forward(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        let quarter = stage4(stem(normalized(lightness)))
        let eighth = stage8(quarter)
        let sixteenth = stage16(eighth)
        let deepest = stage32(sixteenth)
        var x = up16(deepest + context(deepest), skip: sixteenth)
        x = up8(x, skip: eighth)
        x = up4(x, skip: quarter)
        return head(x) * abScale
    }
}

/// `count` separable convolutions, the first of which halves the size.
private func separables(_ inputs: Int, _ outputs: Int, count: Int) -> Sequential {
    Sequential(
        (0..<count).map { place in
            separable(place == 0 ? inputs : outputs, outputs, stride: place == 0 ? 2 : 1)
        })
}
