import Layers
import TensorGraph

extension TrainingConfiguration.Loss {
    /// How far colors are apart, example by example: [N].
    ///
    /// - Parameters: estimate and target, a and b divided by 110: [N, 2, H, W].
    func regression(_ estimate: Tensor, _ target: Tensor) -> Tensor {
        var values = elements(estimate, target)
        if saturation > 0 {
            // Gray is right for most pixels; without more weight on the others, all turns gray.
            let chroma = sqrt((target * target).sum(axes: [1], keepDims: true))
            values = values * (1 + chroma * Float(saturation))
        }
        return values.meanOfExamples()
    }

    private func elements(_ estimate: Tensor, _ target: Tensor) -> Tensor {
        switch kind {
        case .l1, .classification: l1Loss(estimate, target, reduction: .none)
        case .mse: mseLoss(estimate, target, reduction: .none)
        case .huber: huberLoss(estimate, target, delta: Float(delta), reduction: .none)
        }
    }
}

/// The mean difference of neighbors, example by example: [N].
///
/// - Parameter picture: [N, C, H, W].
func totalVariation(_ picture: Tensor) -> Tensor {
    let (height, width) = (picture.shape[2], picture.shape[3])
    let down =
        picture.sliced(axis: 2, 1..<height) - picture.sliced(axis: 2, 0..<(height - 1))
    let right = picture.sliced(axis: 3, 1..<width) - picture.sliced(axis: 3, 0..<(width - 1))
    return abs(down).meanOfExamples() + abs(right).meanOfExamples()
}

extension Tensor {
    /// The mean of each example of [N, C, H, W]: [N].
    func meanOfExamples() -> Tensor { mean(axes: [1, 2, 3]) }
}
