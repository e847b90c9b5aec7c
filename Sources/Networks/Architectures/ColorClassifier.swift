public import RetintColor
public import RetintGraph
import RetintLayers

/// A colorizer that predicts, or can learn to predict, a distribution over ab bins.
public protocol ColorClassifier: ColorizerNetwork {
    /// The bins; by default those in gamut.
    static var bins: ABBins { get }

    /// The color, with the distribution whose mean it is, or with one from a second output.
    ///
    /// - Parameter lightness: L, [N, 1, H, W] in 0…100.
    func predictions(_ lightness: Tensor) -> ColorPrediction
}

/// The output of a ``ColorClassifier``.
public struct ColorPrediction {
    /// a and b, [N, 2, H, W] in −110…110.
    public let ab: Tensor
    /// The unnormalized log-probabilities of the bins, [N, bins, H/4, W/4]; nil for a network
    /// without a classification head.
    public let logits: Tensor?

    /// Creates a prediction; the shapes are not checked.
    ///
    /// - Parameters:
    ///   - ab: a and b, [N, 2, H, W].
    ///   - logits: the logits of the bins, [N, bins, H/4, W/4]; nil without a classification head.
    public init(ab: Tensor, logits: Tensor?) {
        self.ab = ab
        self.logits = logits
    }
}

extension ColorClassifier {
    /// The 313 bins in gamut, unless a network states others.
    public static var bins: ABBins { .inGamut }
    /// The stride of the distributions: each covers this many pixels in height and width.
    public static var binStride: Int { 4 }

    /// Estimates the colors of ``predictions(_:)``, without the distributions.
    ///
    /// - Parameter lightness: L, [N, 1, H, W] in 0…100.
    /// - Returns: a and b, [N, 2, H, W].
    public func forward(_ lightness: Tensor) -> Tensor { predictions(lightness).ab }
}

/// A colorizer that also takes the colors of some pixels.
public protocol HintedColorizer: ColorClassifier {
    /// Colors with hints.
    ///
    /// - Parameters:
    ///   - lightness: L, [N, 1, H, W] in 0…100.
    ///   - hints: a and b of the pixels with a hint, 0 elsewhere: [N, 2, H, W] in −110…110.
    ///   - mask: 1 for pixels with a hint, 0 elsewhere: [N, 1, H, W].
    func predictions(_ lightness: Tensor, hints: Tensor, mask: Tensor) -> ColorPrediction
}
