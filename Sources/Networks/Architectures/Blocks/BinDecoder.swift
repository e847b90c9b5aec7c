import Glibc
import RetintColor
import RetintGraph
import RetintLayers
import RetintTensors

/// The annealed mean of a distribution over ab bins (Zhang et al. 2016, equation 5): the softmax of
/// logits/temperature, averaged by `colors`.
///
/// - Parameters:
///   - logits: [N, bins, H, W].
///   - colors: the 1×1 convolution from probabilities to a and b.
func annealedMean(_ logits: Tensor, temperature: Float, colors: (Tensor) -> Tensor) -> Tensor {
    let scaled = temperature == 1 ? logits : logits * (1 / temperature)
    return colors(softmax(scaled, axis: 1))
}

/// The weights of the 1×1 convolution from probabilities to a and b in −1…1, [2, bins, 1, 1], times
/// a factor.
func colorWeights(of bins: ABBins, _ scale: Float = 1) -> [Float] {
    (bins.centers.map(\.a) + bins.centers.map(\.b)).map { $0 / LabScaling.colorRange * scale }
}

/// The 1×1 convolution from features to the logits of the 313 ab bins. Its small initial weights
/// make the untrained network predict gray.
func binClassifier(_ inputs: Int) -> Conv2d {
    Conv2d(
        inputs, ABBins.inGamut.count, kernel: 1, initializer: .normal(mean: 0, deviation: 0.01))
}

/// The color of a distribution over the 313 ab bins: its annealed mean, after `neutrality` has made
/// colorful bins less likely, times the agreement of the bins to the power of `certainty`, times
/// the factor for a and b. It has no parameters.
final class BinDecoder: Module, Layer {
    /// A neutrality of 1 lowers the logit of a bin of this chroma by 1, before the temperature
    /// divides it (logit adjustment: Menon et al. 2021).
    private static let chromaUnit: Float = 50

    private let temperature, chromaScale, certainty, neutrality: Float

    init(_ options: ColorizerOptions) {
        temperature = Float(options.temperature ?? 0.38)
        chromaScale = Float(options.chromaScale)
        certainty = Float(options.certainty)
        neutrality = Float(options.neutrality)
    }

    /// - Returns: a and b in −1…1, [N, 2, H, W].
    func forward(_ logits: Tensor) -> Tensor {
        let chromas = ABBins.inGamut.centers.map { hypot($0.a, $0.b) }
        let adjusted = neutrality > 0 ? logits - penalties(of: chromas, logits.graph) : logits
        guard certainty > 0 else {
            return mean(adjusted, colorWeights(of: .inGamut, chromaScale))
        }
        let chromaWeights = chromas.map { $0 / LabScaling.colorRange }
        let means = mean(adjusted, colorWeights(of: .inGamut) + chromaWeights)
        let ab = means.sliced(axis: 1, 0..<2)
        let factor = agreement(ab, means.sliced(axis: 1, 2..<3))
        return ab * (chromaScale == 1 ? factor : factor * chromaScale)
    }

    /// What the logit of each bin is lowered by, [1, bins, 1, 1].
    private func penalties(of chromas: [Float], _ graph: Graph) -> Tensor {
        let scalars = chromas.map { $0 * (neutrality / Self.chromaUnit) }
        return graph.constant(TensorData(shape: [1, chromas.count, 1, 1], scalars: scalars))
    }

    /// - Parameter weights: the weights of the 1×1 convolution from probabilities, one row per
    ///   channel.
    private func mean(_ logits: Tensor, _ weights: [Float]) -> Tensor {
        let bins = ABBins.inGamut.count
        let weight = TensorData(shape: [weights.count / bins, bins, 1, 1], scalars: weights)
        return annealedMean(logits, temperature: temperature) { probabilities in
            conv2d(probabilities, weight: logits.graph.constant(weight))
        }
    }

    /// The chroma of the mean over the mean of the chromas, to the power of `certainty`: 1 if all
    /// bins are of one hue, near 0 if they cancel (the resultant length of directional statistics).
    private func agreement(_ ab: Tensor, _ chroma: Tensor) -> Tensor {
        let length = (ab * ab).sum(axes: [1], keepDims: true)
        // The constant keeps the quotient finite, also in half precision. It is the square of about
        // one unit of ab.
        return power(length / (chroma * chroma + 1e-4), certainty / 2)
    }

    /// A tensor of 0…1 to a power: as a product if it can be one, because in half precision errors
    /// of the logarithm grow in the exponential. The constant keeps the logarithm finite.
    private func power(_ base: Tensor, _ exponent: Float) -> Tensor {
        guard let count = Int(exactly: exponent), count > 0 else {
            return exp(log(base + 1e-4) * exponent)
        }
        return (1..<count).reduce(base) { product, _ in product * base }
    }

    /// The color at the image's size, and the distribution.
    ///
    /// - Parameter logits: at a quarter of the image's size, [N, bins, H/4, W/4].
    func prediction(_ logits: Tensor) -> ColorPrediction {
        // Twice ×2: accelerators do not support ×4.
        let ab = upsampleBilinear(upsampleBilinear(self(logits), factor: 2), factor: 2)
        return ColorPrediction(ab: LabScaling.denormalize(ab: ab), logits: logits)
    }
}
