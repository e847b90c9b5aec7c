import Layers
import TensorGraph

/// The cross-entropy of distributions over bins, example by example: [N].
///
/// - Parameters:
///   - logits: [N, bins, H, W].
///   - targets: probabilities of the same shape.
///   - weights: a factor for each place, [N, 1, H, W].
func classificationLoss(_ logits: Tensor, _ targets: Tensor, weights: Tensor? = nil) -> Tensor {
    let places = -(logSoftmax(logits, axis: 1) * targets).sum(axes: [1], keepDims: true)
    return (weights.map { places * $0 } ?? places).mean(axes: [1, 2, 3])
}
