import Layers
import TensorGraph

/// A U-Net of re-parameterised 3×3 convolutions: each learns with two or three branches and runs as
/// one (RepVGG). Plain 3×3 convolutions are what accelerators and Winograd kernels do best.
public final class RepUNet: Module, ColorizerNetwork {
    public static let architecture = "rep-unet"
    public static let requiredMultiple = 32

    let stem: Sequential
    let stage4, stage8, stage16, stage32: Sequential
    let context: Sequential
    let up16, up8, up4, up2: UpBlock
    let head: Sequential

    public init(options: ColorizerOptions = .init()) {
        let widths = [32, 48, 96, 160, 256].map(options.scaled)
        func stage(_ level: Int, _ count: Int) -> Sequential {
            Sequential(
                (0..<options.repeated(count)).map { place in
                    RepConv2d(
                        widths[place == 0 ? level - 1 : level], widths[level],
                        stride: place == 0 ? 2 : 1, isFolded: options.isFolded)
                })
        }
        func up(_ level: Int) -> UpBlock {
            UpBlock(widths[level + 1], widths[level]) { channels in
                RepConv2d(channels, channels, isFolded: options.isFolded)
            }
        }
        stem = Sequential(RepConv2d(1, widths[0], stride: 2, isFolded: options.isFolded))
        (stage4, stage8) = (stage(1, 2), stage(2, 3))
        (stage16, stage32) = (stage(3, 4), stage(4, 2))
        context = globalContext(widths[4])
        (up16, up8, up4, up2) = (up(3), up(2), up(1), up(0))
        head = colorHead(widths[0], doublings: 1)
        super.init()
        assignNames()
    }

    public func forward(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        let half = stem(normalized(lightness))
        let quarter = stage4(half)
        let eighth = stage8(quarter)
        let sixteenth = stage16(eighth)
        let deepest = stage32(sixteenth)
        var x = up16(deepest + context(deepest), skip: sixteenth)
        x = up8(x, skip: eighth)
        x = up4(x, skip: quarter)
        return head(up2(x, skip: half)) * abScale
    }
}
