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

/// The color of a distribution over the 313 ab bins: its annealed mean, with `certainty` times the
/// agreement of the bins, with `coring` less of its faint colors, times the factor for a and b. It
/// has no parameters.
final class BinDecoder: Module, Layer {
    private let temperature, chromaScale, certainty, coring: Float

    init(_ options: ColorizerOptions) {
        temperature = Float(options.temperature ?? 0.38)
        chromaScale = Float(options.chromaScale)
        certainty = Float(options.certainty)
        coring = Float(options.coring)
    }

    /// - Returns: a and b in −1…1, [N, 2, H, W].
    func forward(_ logits: Tensor) -> Tensor {
        guard coring > 0 else { return color(logits, chromaScale) }
        let ab = color(logits, 1)
        let length = squaredLength(ab)
        let threshold = coring / LabScaling.colorRange
        return ab * (length / (length + threshold * threshold) * chromaScale)
    }

    /// The mean, times the agreement of the bins, times a factor.
    private func color(_ logits: Tensor, _ factor: Float) -> Tensor {
        guard certainty > 0 else { return mean(logits, colorWeights(of: .inGamut, factor)) }
        let bins = ABBins.inGamut
        let chromas = bins.centers.map { hypot($0.a, $0.b) / LabScaling.colorRange }
        let all = mean(logits, colorWeights(of: bins) + chromas)
        let (ab, chroma) = (all.sliced(axis: 1, 0..<2), all.sliced(axis: 1, 2..<3))
        let agreement = agreement(ab, chroma)
        return ab * (factor == 1 ? agreement : agreement * factor)
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
        let length = squaredLength(ab)
        // The constants keep quotient and logarithm finite, also in half precision. The first is
        // the square of about one unit of ab.
        let squared = length / (chroma * chroma + 1e-4)
        return certainty == 2 ? squared : exp(log(squared + 1e-4) * (certainty / 2))
    }

    private func squaredLength(_ ab: Tensor) -> Tensor {
        (ab * ab).sum(axes: [1], keepDims: true)
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
