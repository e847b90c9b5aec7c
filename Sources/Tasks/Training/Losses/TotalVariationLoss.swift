import RetintGraph
import RetintTensors

extension TrainingConfiguration {
    /// The mean absolute difference of neighboring pixels' colors.
    public struct TotalVariationLoss: LossTerm {
        /// The weight of the differences of ab/110.
        public var weight = 0.0

        /// The defaults.
        public init() {}

        static var fields: [TrainingConfiguration.Field] {
            [
                .init(
                    "loss.total_variation", \.loss.totalVariation.weight, .range(0...1e6),
                    "weight of the differences of neighboring pixels")
            ]
        }

        func prepared(_ setup: LossSetup) -> [PreparedLoss] {
            guard weight > 0 else { return [] }
            let part = PreparedLoss(reference: .photo, inputs: []) { context in
                totalVariation(context.estimate) * Float(weight)
            }
            return [part]
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
