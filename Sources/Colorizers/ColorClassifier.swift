public import ColorScience
import Layers
public import TensorGraph

/// A colorizer that learns, or can learn, by classification over ab bins.
public protocol ColorClassifier: ColorizerNetwork {
    static var bins: ABBins { get }

    /// The color and the distribution that it comes from, or that the network also learns.
    func predictions(_ lightness: Tensor) -> ColorPrediction
}

/// What a ``ColorClassifier`` answers.
public struct ColorPrediction {
    /// a and b, [N, 2, H, W] in −110…110.
    public let ab: Tensor
    /// The unnormalized log-probabilities of the bins, [N, bins, H/4, W/4]; nil if the network was
    /// made without a head for them.
    public let logits: Tensor?

    public init(ab: Tensor, logits: Tensor?) {
        self.ab = ab
        self.logits = logits
    }
}

extension ColorClassifier {
    public static var bins: ABBins { .inGamut }
    /// How many pixels of the picture, each way, one distribution stands for.
    public static var binStride: Int { 4 }

    public func forward(_ lightness: Tensor) -> Tensor { predictions(lightness).ab }
}

/// A colorizer that can be told the color of some pixels.
public protocol HintedColorizer: ColorClassifier {
    /// Colors with hints.
    ///
    /// - Parameters:
    ///   - hints: a and b where they are known, 0 elsewhere: [N, 2, H, W] in −110…110.
    ///   - mask: 1 where they are known, 0 elsewhere: [N, 1, H, W].
    func predictions(_ lightness: Tensor, hints: Tensor, mask: Tensor) -> ColorPrediction
}

extension HintedColorizer {
    /// a and b with hints, [N, 2, H, W].
    public func callAsFunction(_ lightness: Tensor, hints: Tensor, mask: Tensor) -> Tensor {
        predictions(lightness, hints: hints, mask: mask).ab
    }
}
