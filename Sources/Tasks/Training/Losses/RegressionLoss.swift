import RetintGraph
import RetintLayers
import RetintTensors

extension TrainingConfiguration {
    /// The difference of estimated colors from true ones, pixel by pixel.
    public struct RegressionLoss: LossTerm {
        /// Where the Huber loss turns linear, in units of ab/110.
        public var delta = 0.1
        /// A weight for colorful pixels, `loss.saturation` in files: each pixel counts
        /// 1 + chromaWeight·|ab|/110.
        public var chromaWeight = 1.0

        /// The defaults.
        public init() {}

        static var fields: [TrainingConfiguration.Field] {
            [
                .init(
                    "loss.delta", \.loss.regression.delta, .range(1e-6...10),
                    "where huber becomes linear"),
                .init(
                    "loss.saturation", \.loss.regression.chromaWeight, .range(0...100),
                    "weights pixels by 1 + this·|ab|/110"),
            ]
        }

        func prepared(_ setup: LossSetup) -> [PreparedLoss] {
            guard setup.loss.kind != .classification else { return [] }
            let part = PreparedLoss(reference: .photo, inputs: [.target]) { context in
                self(
                    context.estimate, context[.target], setup.loss.kind,
                    neutral: setup.loss.neutral)
            }
            return [part]
        }
    }
}

extension TrainingConfiguration.RegressionLoss {
    /// The loss of each example: [N].
    ///
    /// - Parameters:
    ///   - estimate: a and b divided by 110, [N, 2, H, W].
    ///   - target: the same for the photo or the teacher.
    ///   - kind: for `classification`, the difference is that of `l1`.
    ///   - neutral: an additional weight, if the target is the photo.
    func callAsFunction(
        _ estimate: Tensor, _ target: Tensor, _ kind: TrainingConfiguration.LossSettings.Kind,
        neutral: TrainingConfiguration.NeutralWeight? = nil
    ) -> Tensor {
        let values = elements(estimate, target, kind)
        let neutral = neutral.flatMap { $0.weight > 0 ? $0 : nil }
        guard chromaWeight > 0 || neutral != nil else { return values.meanOfExamples() }
        // Most pixels are nearly gray; without more weight for the others, everything becomes gray.
        let chroma = sqrt((target * target).sum(axes: [1], keepDims: true))
        let weights = 1 + chroma * Float(chromaWeight)
        let all = neutral.map { weights + $0(chroma: chroma) } ?? weights
        return (values * all).meanOfExamples()
    }

    private func elements(
        _ estimate: Tensor, _ target: Tensor, _ kind: TrainingConfiguration.LossSettings.Kind
    ) -> Tensor {
        switch kind {
        case .l1, .classification: l1Loss(estimate, target, reduction: .none)
        case .mse: mseLoss(estimate, target, reduction: .none)
        case .huber: huberLoss(estimate, target, delta: Float(delta), reduction: .none)
        }
    }
}
