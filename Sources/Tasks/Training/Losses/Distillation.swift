import RetintGraph
import RetintLayers
import RetintTensors

extension TrainingConfiguration {
    /// The difference of the network's colors from the teacher's, as the regression of
    /// ``LossSettings`` measures it.
    struct ColorDistillation: LossTerm {
        static var fields: [TrainingConfiguration.Field] { [] }

        func prepared(_ setup: LossSetup) -> [PreparedLoss] {
            let loss = setup.loss
            let part = PreparedLoss(reference: .teacher, inputs: [.teacherColors]) { context in
                loss.regression(context.estimate, context[.teacherColors], loss.kind).mean()
            }
            return [part]
        }
    }

    /// The cross-entropy with the teacher's distribution over ab bins.
    public struct LogitDistillation: LossTerm {
        /// The weight of the cross-entropy.
        public var weight = 0.0
        /// The temperature of both distributions.
        public var temperature = 1.0

        /// The defaults.
        public init() {}

        static var fields: [TrainingConfiguration.Field] {
            [
                .init(
                    "distillation.logits", \.distillation.logits.weight, .range(0...1e6),
                    "weight of the cross-entropy with the teacher's distribution"),
                .init(
                    "distillation.temperature", \.distillation.logits.temperature,
                    .range(0.05...100), "temperature of both distributions"),
            ]
        }

        func prepared(_ setup: LossSetup) -> [PreparedLoss] {
            guard weight > 0 else { return [] }
            return [PreparedLoss(reference: .teacher, inputs: [.teacherLogits], build: build)]
        }

        private func build(_ context: LossContext) throws(TrainingError) -> Tensor {
            let teacher = context.teacher[.teacherLogits]
            guard let logits = context.prediction.colors.logits, let teacher,
                logits.shape == teacher.shape
            else {
                throw TrainingError(
                    at: "distillation.logits",
                    "the teacher and the network do not both classify over the same bins at the "
                        + "same size; set it to 0")
            }
            let inverseTemperature = 1 / Float(temperature)
            let targets = softmax(teacher * inverseTemperature, axis: 1)
            // Gradients shrink by T², which the factor compensates, as in Hinton et al.
            let factor = Float(weight * temperature * temperature)
            return crossEntropy(logits * inverseTemperature, targets) * factor
        }
    }
}
