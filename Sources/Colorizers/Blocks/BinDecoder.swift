import ColorScience
import Layers
import TensorGraph

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

/// The weights of the 1×1 convolution from probabilities to a and b in −1…1, [2, bins, 1, 1].
func colorWeights(of bins: ABBins) -> [Float] {
    (bins.centers.map(\.a) + bins.centers.map(\.b)).map { $0 / LabScaling.colorRange }
}

/// The 1×1 convolution from features to the logits of the 313 ab bins. Its small initial weights
/// make the untrained network predict gray.
func binClassifier(_ inputs: Int) -> Conv2d {
    Conv2d(
        inputs, ABBins.inGamut.count, kernel: 1, initializer: .normal(mean: 0, deviation: 0.01))
}

/// The color of a distribution over the 313 ab bins: its annealed mean, times the factor for a and
/// b. It has no parameters.
final class BinDecoder: Module, Layer {
    private let temperature, chromaScale: Float

    init(_ options: ColorizerOptions) {
        temperature = Float(options.temperature ?? 0.38)
        chromaScale = Float(options.chromaScale)
    }

    /// - Returns: a and b in −1…1, [N, 2, H, W].
    func forward(_ logits: Tensor) -> Tensor {
        let bins = ABBins.inGamut
        let weight = TensorData(
            shape: [2, bins.count, 1, 1], scalars: colorWeights(of: bins).map { $0 * chromaScale })
        return annealedMean(logits, temperature: temperature) { probabilities in
            conv2d(probabilities, weight: logits.graph.constant(weight))
        }
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
