import RetintArchitectures
import RetintGraph
import RetintLayers
import RetintTensors

extension TrainingConfiguration {
    /// The cross-entropy of the network's distributions over ab bins with those of the photo (Zhang
    /// et al., "Colorful Image Colorization", 2016).
    public struct ClassificationLoss: LossTerm {
        /// Its weight beside l1, mse or huber.
        public var weight = 0.0
        /// The number of bins over which a target of classification is spread.
        public var neighbors = 10
        /// The standard deviation of that spread, in units of ab.
        public var sigma = 5.0
        /// λ of class rebalancing, by 1/((1 − λ)·p + λ/bins); nil: all colors have the same weight.
        public var rebalance: Double? = 0.5

        /// The defaults.
        public init() {}

        static var fields: [TrainingConfiguration.Field] {
            [
                .init(
                    "loss.class_weight", \.loss.classification.weight, .range(0...1e6),
                    "weight of classification in addition to l1, mse or huber"),
                .init(
                    "loss.neighbors", \.loss.classification.neighbors, .range(1...313),
                    "bins that a target of classification is spread over"),
                .init(
                    "loss.sigma", \.loss.classification.sigma, .range(0.1...100),
                    "standard deviation of that spread, in units of ab"),
                .init(
                    "loss.rebalance", optional: \.loss.classification.rebalance, .range(0...1),
                    "weights rare colors more, by 1/((1 − this)·p + this/bins); null: all the same"
                ),
            ]
        }

        func prepared(_ setup: LossSetup) throws -> [PreparedLoss] {
            guard setup.loss.classifies else { return [] }
            let architecture = setup.network.architecture
            guard setup.network is any ColorClassifier else {
                throw TrainingError(
                    at: setup.loss.kind == .classification ? "loss.kind" : "loss.class_weight",
                    "\(architecture) has no distribution over colors to classify; use "
                        + "l1, mse or huber with loss.class_weight 0, or another architecture")
            }
            let factor = Float(setup.loss.kind == .classification ? 1 : weight)
            let inputs: [StepInput] = [.classes, .classWeights]
            let part = PreparedLoss(reference: .photo, inputs: inputs) { context in
                guard let logits = context.prediction.colors.logits else {
                    context.graph.record(
                        ShapeError("has no class head; set class_head to true"), architecture, [])
                    return nil
                }
                let entropy = crossEntropy(
                    logits, context[.classes], weights: context[.classWeights], reduction: .none)
                return entropy.meanOfExamples() * factor
            }
            return [part]
        }
    }
}
