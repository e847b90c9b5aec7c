import RetintGraph
import RetintLayers

/// The smallest colorizer here: a U-Net of depthwise-separable convolutions that ends at a quarter
/// of the size, for video on slow devices or for trying a recipe.
public final class PicoUNet: Module, ColorizerArchitecture {
    /// The name in files and in ``NetworkDescription``: `pico-unet`.
    public static let architecture = "pico-unet"
    /// H and W of the input are multiples of 32: the encoder halves the size five times.
    public static let requiredMultiple = 32

    let stem: Sequential
    let stage4, stage8, stage16, stage32: Sequential
    let unet: UNetDecoder
    let head: Sequential

    /// Creates the network and names its parameters, which hold no values (see `Parameter`).
    ///
    /// - Parameter options: `width` and `depth` are used, the others ignored.
    public init(options: ColorizerOptions = .init()) {
        let widths = [16, 32, 48, 64, 96].map(options.scaled)
        stem = convolution(1, widths[0], kernel: 3, stride: 2)
        stage4 = separables(widths[0], widths[1], count: 1)
        stage8 = separables(widths[1], widths[2], count: options.repeated(2))
        stage16 = separables(widths[2], widths[3], count: options.repeated(3))
        stage32 = separables(widths[3], widths[4], count: options.repeated(3))
        unet = UNetDecoder(features: Array(widths[1...])) { _, channels in separable(channels) }
        head = colorHead(widths[1], doublings: 2)
        super.init()
        assignNames()
    }

    /// Estimates colors.
    ///
    /// - Parameter lightness: L in 0…100, [N, 1, H, W], with H and W multiples of 32.
    /// - Returns: a and b in −110…110, [N, 2, H, W].
    public func forward(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        let quarter = stage4(stem(LabScaling.normalize(lightness: lightness)))
        let features = pyramid(quarter, stage8, stage16, stage32)
        return LabScaling.denormalize(ab: head(unet(features)))
    }
}

/// `count` separable convolutions, the first of which halves the size.
private func separables(_ inputs: Int, _ outputs: Int, count: Int) -> Sequential {
    Sequential(
        (0..<count).map { index in
            separable(index == 0 ? inputs : outputs, outputs, stride: index == 0 ? 2 : 1)
        })
}
