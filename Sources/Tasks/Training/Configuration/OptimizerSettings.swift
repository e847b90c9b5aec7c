extension TrainingConfiguration {
    /// How gradients update weights.
    public struct OptimizerSettings: Hashable, Sendable {
        /// The rule, as in `torch.optim`.
        public enum Kind: String, CaseIterable, Hashable, Sendable {
            /// `SGD`, `Adam` and `AdamW` of `torch.optim`.
            case sgd, adam, adamw
        }

        /// The rule.
        public var kind = Kind.adamw
        /// The learning rate that the schedule multiplies.
        public var learningRate = 1e-3
        /// The momentum of SGD.
        public var momentum = 0.9
        /// The decay of Adam's mean of gradients.
        public var beta1 = 0.9
        /// The decay of Adam's mean of squared gradients.
        public var beta2 = 0.999
        /// The term that prevents division by zero in Adam.
        public var epsilon = 1e-8
        /// Weight decay, decoupled from the gradient in AdamW.
        public var weightDecay = 0.01
        /// The largest norm of all gradients together; nil: they are not clipped.
        public var clipGradNorm: Double?
        /// The largest decay of exponentially averaged weights, which are then validated and kept
        /// as `best.h5`; nil: no averages.
        public var ema: Double?
        /// Groups of parameters with their own settings:
        /// `stem.*: rate=0.1 decay=0; head.*: rate=2 schedule=constant warmup=0`.
        public var groups: String?

        /// The defaults.
        public init() {}
    }
}
