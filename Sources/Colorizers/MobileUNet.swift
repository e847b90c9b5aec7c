import Layers
import TensorGraph

/// A small, fast colorizer: inverted residuals down to 1/32 of the size, a global context, and a
/// U-Net decoder that adds skips and doubles the size by bilinear interpolation.
///
/// Made for phones' accelerators: channels in multiples of 16, kernels of 3×3 and 1×1, batch
/// normalization right behind each convolution, so that it folds, no dilation, no transposed
/// convolution. Color is smooth, so the network ends at half the size.
public final class MobileUNet: Module, Colorizer {
    public static let architecture = "mobile-unet"
    public static let requiredMultiple = 32

    let stem, stage2: Sequential
    let stage4, stage8, stage16, stage32: Sequential
    let context: Sequential
    let up16, up8, up4, up2: UpBlock
    let head: Sequential

    public init(options: ColorizerOptions = .init()) {
        let widths = [16, 32, 64, 96, 160].map(options.scaled)
        stem = convolution(1, widths[0], kernel: 3, stride: 2)
        stage2 = convolution(widths[0], widths[0], kernel: 3)
        stage4 = Sequential(
            convolution(widths[0], widths[1], kernel: 3, stride: 2),
            InvertedResidual(widths[1], widths[1]))
        stage8 = residuals(widths[1], widths[2], count: 2)
        stage16 = residuals(widths[2], widths[3], count: 3)
        stage32 = residuals(widths[3], widths[4], count: 3)
        context = Sequential(
            GlobalAvgPool2d(), Conv2d(widths[4], widths[4], kernel: 1), ReLU(),
            Conv2d(widths[4], widths[4], kernel: 1))
        up16 = UpBlock(widths[4], widths[3], separable: true)
        up8 = UpBlock(widths[3], widths[2], separable: true)
        up4 = UpBlock(widths[2], widths[1], separable: false)
        up2 = UpBlock(widths[1], widths[0], separable: false)
        // Small weights: the untrained network answers gray, which is where learning starts best.
        let small = Initializer.normal(mean: 0, deviation: 0.01)
        head = Sequential(
            Conv2d(widths[0], 2, kernel: 3, padding: 1, initializer: small), TanhLayer(),
            Upsample(scaleFactor: 2, mode: .bilinear))
        super.init()
        assignNames()
    }

    public func forward(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        let half = stage2(stem(normalized(lightness)))
        let quarter = stage4(half)
        let eighth = stage8(quarter)
        let sixteenth = stage16(eighth)
        let deepest = stage32(sixteenth)
        var x = up16(deepest + context(deepest), skip: sixteenth)
        x = up8(x, skip: eighth)
        x = up4(x, skip: quarter)
        x = up2(x, skip: half)
        return head(x) * abScale
    }
}

/// Convolution, batch normalization and, unless told otherwise, ReLU.
private func convolution(
    _ inputs: Int, _ outputs: Int, kernel: Int, stride: Pair = 1, groups: Int = 1,
    activates: Bool = true
) -> Sequential {
    let convolution = Conv2d(
        inputs, outputs, kernel: Pair(kernel), stride: stride, padding: Padding(kernel / 2),
        groups: groups, bias: false, initializer: .kaimingNormal(.out))
    let layers: [any Layer] = [convolution, BatchNorm2d(outputs)]
    return Sequential(activates ? layers + [ReLU()] : layers)
}

/// `count` inverted residuals, the first of which halves the size.
private func residuals(_ inputs: Int, _ outputs: Int, count: Int) -> Sequential {
    Sequential(
        (0..<count).map { place in
            InvertedResidual(
                place == 0 ? inputs : outputs, outputs, stride: place == 0 ? 2 : 1)
        })
}

/// MobileNetV2's block: widen by 1×1, filter each channel by 3×3, narrow by 1×1; where the shape
/// stays, the input is added.
final class InvertedResidual: Module, Layer {
    let expand, depthwise, project: Sequential
    private let keepsShape: Bool

    init(_ inputs: Int, _ outputs: Int, stride: Int = 1, expansion: Int = 4) {
        let wide = inputs * expansion
        expand = convolution(inputs, wide, kernel: 1)
        depthwise = convolution(wide, wide, kernel: 3, stride: Pair(stride), groups: wide)
        project = convolution(wide, outputs, kernel: 1, activates: false)
        keepsShape = stride == 1 && inputs == outputs
    }

    func forward(_ x: Tensor) -> Tensor {
        let y = project(depthwise(expand(x)))
        return keepsShape ? x + y : y
    }
}

/// Twice the size: narrow by 1×1 (cheaper before the pixels are four times as many), interpolate,
/// add the skip, filter by 3×3.
final class UpBlock: Module {
    let narrow: Sequential
    let upsample = Upsample(scaleFactor: 2, mode: .bilinear)
    let fuse: Sequential

    /// - Parameter separable: whether the 3×3 is depthwise with a 1×1 behind it.
    init(_ inputs: Int, _ outputs: Int, separable: Bool) {
        narrow = convolution(inputs, outputs, kernel: 1, activates: false)
        fuse =
            separable
            ? Sequential(
                convolution(outputs, outputs, kernel: 3, groups: outputs),
                convolution(outputs, outputs, kernel: 1))
            : convolution(outputs, outputs, kernel: 3)
    }

    func callAsFunction(_ x: Tensor, skip: Tensor) -> Tensor {
        scoped(in: x.graph) { fuse(upsample(narrow(x)) + skip) }
    }
}
