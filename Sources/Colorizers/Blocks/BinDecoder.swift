import ColorScience
import Layers
import TensorGraph

/// The annealed mean of the 313 ab bins: softmax of the logits divided by the temperature, and the
/// mean color under it, times the saturation. It has nothing to learn.
final class BinDecoder: Module, Layer {
    private let temperature, saturation: Float

    init(_ options: ColorizerOptions) {
        temperature = Float(options.temperature ?? 0.38)
        saturation = Float(options.saturation)
    }

    /// - Returns: a and b in −1…1, [N, 2, H, W].
    func forward(_ logits: Tensor) -> Tensor {
        let bins = ABBins.inGamut
        let colors = Self.weight(of: bins).map { $0 * saturation }
        let weight = TensorData(shape: [2, bins.count, 1, 1], scalars: colors)
        return conv2d(
            softmax(logits * (1 / temperature), axis: 1), weight: logits.graph.constant(weight))
    }

    /// The color and the distribution it comes from.
    ///
    /// - Parameter logits: at a quarter of the picture's size, [N, bins, H/4, W/4].
    func prediction(_ logits: Tensor) -> ColorPrediction {
        // Twice ×2: accelerators know no ×4.
        let whole = upsampleBilinear(upsampleBilinear(self(logits), factor: 2), factor: 2)
        return ColorPrediction(ab: whole * abScale, logits: logits)
    }

    /// The 1×1 convolution that turns probabilities into a and b in −1…1, [2, bins, 1, 1].
    static func weight(of bins: ABBins) -> [Float] {
        (bins.centers.map(\.a) + bins.centers.map(\.b)).map { $0 / abScale }
    }
}
