import Layers
import TensorGraph

/// Convolution, batch normalization and, unless told otherwise, ReLU.
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

/// A 3×3 convolution that keeps the number of channels.
public func convolution(_ channels: Int) -> Sequential {
    convolution(channels, channels, kernel: 3)
}

/// A 3×3 convolution of each channel and one of 1×1 across them: an eighth of the work.
public func separable(_ inputs: Int, _ outputs: Int, stride: Pair = 1) -> Sequential {
    Sequential(
        convolution(inputs, inputs, kernel: 3, stride: stride, groups: inputs),
        convolution(inputs, outputs, kernel: 1))
}

public func separable(_ channels: Int) -> Sequential { separable(channels, channels) }

/// What the whole picture says, to be added to every place of it: [N, C, 1, 1].
public func globalContext(_ channels: Int) -> Sequential {
    Sequential(
        GlobalAvgPool2d(), Conv2d(channels, channels, kernel: 1), ReLU(),
        Conv2d(channels, channels, kernel: 1))
}

/// a and b in −1…1, twice as large as the features as often as told.
public func colorHead(_ inputs: Int, doublings: Int) -> Sequential {
    // Small weights: the untrained network answers gray, which is where learning starts best.
    let small = Initializer.normal(mean: 0, deviation: 0.01)
    let color: [any Layer] = [
        Conv2d(inputs, 2, kernel: 3, padding: 1, initializer: small), TanhLayer(),
    ]
    return Sequential(
        color + (0..<doublings).map { _ in Upsample(scaleFactor: 2, mode: .bilinear) })
}
