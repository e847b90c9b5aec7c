import RetintGraph
import RetintLayers

/// A U-Net of re-parameterized 3×3 convolutions (Ding et al., "RepVGG", 2021): each is trained with
/// two or three branches and runs as one. Accelerators and Winograd kernels run plain 3×3
/// convolutions best.
public final class RepUNet: Module, ColorizerArchitecture {
    /// The name in files and in ``NetworkDescription``: `rep-unet`.
    public static let architecture = "rep-unet"
    /// H and W of the input are multiples of 32: the encoder halves the size five times.
    public static let requiredMultiple = 32
    /// The options that the network uses: `width`, `depth` and `isFolded`.
    public static var options: Set<PartialKeyPath<ColorizerOptions>> {
        [\.width, \.depth, \.isFolded]
    }

    let stem: Sequential
    let stage4, stage8, stage16, stage32: Sequential
    let unet: UNetDecoder
    let head: Sequential

    /// Creates the network and names its parameters, which hold no values (see `Parameter`).
    ///
    /// - Parameter options: `width`, `depth` and `isFolded` are used, the others ignored.
    public init(options: ColorizerOptions = .init()) {
        let widths = [32, 48, 96, 160, 256].map(options.scaled)
        func stage(_ level: Int, _ count: Int) -> Sequential {
            Sequential(
                (0..<options.repeated(count)).map { index in
                    RepConv2d(
                        widths[index == 0 ? level - 1 : level], widths[level],
                        stride: index == 0 ? 2 : 1, isFolded: options.isFolded)
                })
        }
        stem = Sequential(RepConv2d(1, widths[0], stride: 2, isFolded: options.isFolded))
        (stage4, stage8) = (stage(1, 2), stage(2, 3))
        (stage16, stage32) = (stage(3, 4), stage(4, 2))
        unet = UNetDecoder(features: widths) { _, channels in
            RepConv2d(channels, channels, isFolded: options.isFolded)
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
        let half = stem(LabScaling.normalize(lightness: lightness))
        let features = pyramid(half, stage4, stage8, stage16, stage32)
        return LabScaling.denormalize(ab: head(unet(features)))
    }
}
