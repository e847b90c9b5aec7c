import RetintGraph
import RetintLayers

extension TrainingConfiguration.LossSettings {
    /// The loss of each example: [N].
    ///
    /// - Parameters:
    ///   - estimate: a and b divided by 110, [N, 2, H, W].
    ///   - target: the same for the photo or the teacher.
    ///   - neutral: an additional weight, if the target is the photo.
    func regression(
        _ estimate: Tensor, _ target: Tensor, neutral: NeutralWeight? = nil
    ) -> Tensor {
        let values = elements(estimate, target)
        guard chromaWeight > 0 || neutral != nil else { return values.meanOfExamples() }
        // Most pixels are nearly gray; without more weight for the others, everything becomes gray.
        let chroma = sqrt((target * target).sum(axes: [1], keepDims: true))
        let weights = 1 + chroma * Float(chromaWeight)
        let all = neutral.map { weights + $0(chroma: chroma) } ?? weights
        return (values * all).meanOfExamples()
    }

    private func elements(_ estimate: Tensor, _ target: Tensor) -> Tensor {
        switch kind {
        case .l1, .classification: l1Loss(estimate, target, reduction: .none)
        case .mse: mseLoss(estimate, target, reduction: .none)
        case .huber: huberLoss(estimate, target, delta: Float(delta), reduction: .none)
        }
    }
}

/// The mean absolute difference of neighboring pixels, for each example: [N].
///
/// - Parameter image: [N, C, H, W].
func totalVariation(_ image: Tensor) -> Tensor {
    let (height, width) = (image.shape[2], image.shape[3])
    let down =
        image.sliced(axis: 2, 1..<height) - image.sliced(axis: 2, 0..<(height - 1))
    let right = image.sliced(axis: 3, 1..<width) - image.sliced(axis: 3, 0..<(width - 1))
    return abs(down).meanOfExamples() + abs(right).meanOfExamples()
}

extension Tensor {
    /// The mean of each example of [N, C, H, W]: [N].
    func meanOfExamples() -> Tensor { mean(axes: [1, 2, 3]) }
}
