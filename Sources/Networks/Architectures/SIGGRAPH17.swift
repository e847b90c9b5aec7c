import RetintColor
import RetintGraph
import RetintLayers

/// The network of Zhang et al., "Real-Time User-Guided Image Colorization with Learned Deep Priors"
/// (SIGGRAPH 2017): a U-Net that takes color hints and works without them, too.
///
/// 34,187,027 parameters with its class head, 34,051,074 without; 75.20 G multiply-adds at 256×256.
public final class SIGGRAPH17: Module, ColorizerArchitecture, ColorClassifier, HintedColorizer {
    /// The name in files and in ``NetworkDescription``: `siggraph17`.
    public static let architecture = "siggraph17"
    /// H and W of the input are multiples of 8: the encoder halves the size three times.
    public static let requiredMultiple = 8
    /// The options that the network uses: `width` and `hasClassHead`.
    public static var options: Set<PartialKeyPath<ColorizerOptions>> { [\.width, \.hasClassHead] }
    /// The 529 bins of the class head: the whole grid, whether in gamut or not.
    public static let bins = ABBins.grid

    let model1, model2, model3, model4, model5, model6, model7: Sequential
    let model8up, model8, model9up, model9, model10up, model10: Sequential
    let model3short8, model2short9, model1short10: Sequential
    let modelClass: Sequential?
    let modelOut: Sequential

    /// Creates the network and names its parameters, which hold no values (see `Parameter`).
    ///
    /// - Parameter options: `width` and `hasClassHead` are used, the others ignored.
    public init(options: ColorizerOptions = .init()) {
        let (c64, c128) = (options.scaled(64), options.scaled(128))
        let (c256, c512) = (options.scaled(256), options.scaled(512))
        let deep = [c512, c512, c512]
        model1 = Sequential(stage(4, [c64, c64]))
        model2 = Sequential(stage(c64, [c128, c128]))
        model3 = Sequential(stage(c128, [c256, c256, c256]))
        model4 = Sequential(stage(c256, deep))
        model5 = Sequential(stage(c512, deep, dilation: 2))
        model6 = Sequential(stage(c512, deep, dilation: 2))
        model7 = Sequential(stage(c512, deep))
        model8up = doubled(c512, c256)
        model8 = Sequential([ReLU()] + stage(c256, [c256, c256]))
        model9up = doubled(c256, c128)
        model9 = Sequential([ReLU()] + stage(c128, [c128]))
        model10up = doubled(c128, c128)
        model10 = Sequential(
            ReLU(), Conv2d(c128, c128, kernel: 3, padding: 1), LeakyReLU(negativeSlope: 0.2))
        model3short8 = Sequential(Conv2d(c256, c256, kernel: 3, padding: 1))
        model2short9 = Sequential(Conv2d(c128, c128, kernel: 3, padding: 1))
        model1short10 = Sequential(Conv2d(c64, c128, kernel: 3, padding: 1))
        modelClass =
            options.hasClassHead ? Sequential(Conv2d(c256, Self.bins.count, kernel: 1)) : nil
        modelOut = Sequential(Conv2d(c128, 2, kernel: 1), TanhLayer())
        super.init()
        assignNames()
    }

    /// Estimates colors without hints.
    ///
    /// - Parameter lightness: L in 0…100, [N, 1, H, W], with H and W multiples of 8.
    /// - Returns: a and b in −110…110, [N, 2, H, W].
    public func forward(_ lightness: Tensor) -> Tensor {
        predictions(lightness).ab
    }

    /// Estimates colors without hints, and distributions over ab bins if there is a class head.
    ///
    /// - Parameter lightness: L in 0…100, [N, 1, H, W], with H and W multiples of 8.
    /// - Returns: a and b in −110…110, [N, 2, H, W], and the logits of the 529 bins,
    ///   [N, 529, H/4, W/4]; nil logits without a class head.
    public func predictions(_ lightness: Tensor) -> ColorPrediction {
        predictions(features(unhinted(lightness)))
    }

    /// Estimates colors with hints, and distributions over ab bins if there is a class head.
    ///
    /// - Parameters:
    ///   - lightness: L in 0…100, [N, 1, H, W], with H and W multiples of 8.
    ///   - hints: a and b of the pixels with a hint, 0 elsewhere: [N, 2, H, W] in −110…110.
    ///   - mask: 1 for pixels with a hint, 0 elsewhere: [N, 1, H, W].
    /// - Returns: as for ``predictions(_:)``.
    public func predictions(
        _ lightness: Tensor, hints: Tensor, mask: Tensor
    ) -> ColorPrediction {
        checkInput(lightness)
        let channels = [
            LabScaling.normalize(lightness: lightness), LabScaling.normalize(ab: hints), mask,
        ]
        return predictions(features(concat(channels, axis: 1)))
    }

    /// The encoder's features, at the full size and at a half and a quarter of it.
    private struct Features {
        let full, half, quarter: Tensor
    }

    /// The network's input without hints: hints and mask are three channels of zeros.
    private func unhinted(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        return LabScaling.normalize(lightness: lightness)
            .padded(before: [0, 0, 0, 0], after: [0, 3, 0, 0])
    }

    private func predictions(_ features: Features) -> ColorPrediction {
        let half = model9(model9up(features.quarter) + model2short9(features.half))
        let full = model10(model10up(half) + model1short10(features.full))
        return ColorPrediction(
            ab: LabScaling.denormalize(ab: modelOut(full)),
            logits: modelClass.map { $0(features.quarter) })
    }

    private func features(_ input: Tensor) -> Features {
        let full = model1(input)
        let half = model2(full.subsampled(by: 2))
        let quarter = model3(half.subsampled(by: 2))
        let deep = [model4, model5, model6, model7].reduce(quarter.subsampled(by: 2)) { $1($0) }
        return Features(
            full: full, half: half, quarter: model8(model8up(deep) + model3short8(quarter)))
    }
}

/// A transposed convolution that doubles the height and width.
private func doubled(_ inputs: Int, _ outputs: Int) -> Sequential {
    Sequential(ConvTranspose2d(inputs, outputs, kernel: 4, stride: 2, padding: 1))
}
