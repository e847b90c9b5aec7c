import RetintGraph
import RetintLayers

/// Convolution, batch normalization and, if `activates`, ReLU.
public func convolution(
    _ inputs: Int, _ outputs: Int, kernel: Int, stride: Pair = 1, groups: Int = 1,
    activates: Bool = true
) -> Sequential {
    let convolution = Conv2d(
        inputs, outputs, kernel: Pair(kernel), stride: stride, padding: Padding(kernel / 2),
        groups: groups, bias: false, initializer: .kaimingNormal(.out))
    let layers: [any Layer] = [convolution, BatchNorm2d(outputs)]
    return Sequential(activates ? layers + [ReLU()] : layers)
}

/// The same with a 3×3 kernel and as many outputs as inputs.
public func convolution(_ channels: Int) -> Sequential {
    convolution(channels, channels, kernel: 3)
}

/// A depthwise-separable convolution: 3×3 in each channel, then 1×1 across them. It takes about an
/// eighth of a 3×3 convolution's multiply-adds.
public func separable(_ inputs: Int, _ outputs: Int, stride: Pair = 1) -> Sequential {
    Sequential(
        convolution(inputs, inputs, kernel: 3, stride: stride, groups: inputs),
        convolution(inputs, outputs, kernel: 1))
}

/// The same with as many outputs as inputs.
public func separable(_ channels: Int) -> Sequential { separable(channels, channels) }

/// A summary of the whole image, [N, C, 1, 1], to be added to its features.
public func globalContext(_ channels: Int) -> Sequential {
    Sequential(
        GlobalAvgPool2d(), Conv2d(channels, channels, kernel: 1), ReLU(),
        Conv2d(channels, channels, kernel: 1))
}

/// The last layers of a regression: features to a and b in −1…1, then the given number of doublings
/// of the size.
public func colorHead(_ inputs: Int, doublings: Int) -> Sequential {
    // Small weights: the untrained network predicts gray, a good start for training.
    let small = Initializer.normal(mean: 0, deviation: 0.01)
    let color: [any Layer] = [
        Conv2d(inputs, 2, kernel: 3, padding: 1, initializer: small), TanhLayer(),
    ]
    return Sequential(
        color + (0..<doublings).map { _ in Upsample(scaleFactor: 2, mode: .bilinear) })
}
