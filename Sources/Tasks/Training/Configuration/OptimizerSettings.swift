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
        /// `stem.* stage2.*: rate=0.1 decay=0; head.*: rate=2 schedule=constant warmup=0`. A
        /// parameter belongs to the first group with a pattern that matches it.
        public var groups: String?

        /// The defaults.
        public init() {}
    }
}

extension TrainingConfiguration.OptimizerSettings: ConfigurationSection {
    static var fields: [TrainingConfiguration.Field] {
        [
            .init("optimizer.kind", \.optimizer.kind, .any, "optimizer"),
            .init(
                "optimizer.learning_rate", \.optimizer.learningRate, .range(1e-12...1e6),
                "learning rate, multiplied by the schedule"),
            .init(
                "optimizer.momentum", \.optimizer.momentum, .range(0...0.9999), "momentum of sgd"),
            .init(
                "optimizer.beta1", \.optimizer.beta1, .range(0...0.99999),
                "decay of adam's mean gradient"),
            .init(
                "optimizer.beta2", \.optimizer.beta2, .range(0...0.999999),
                "decay of adam's mean squared gradient"),
            .init(
                "optimizer.epsilon", \.optimizer.epsilon, .range(1e-30...1),
                "added to adam's divisor"),
            .init(
                "optimizer.weight_decay", \.optimizer.weightDecay, .range(0...10),
                "weight decay, decoupled from the gradient in adamw"),
            .init(
                "optimizer.clip_grad_norm", optional: \.optimizer.clipGradNorm,
                .range(1e-9...1e9),
                "largest norm of all gradients of a network together; null: not clipped"),
            .init(
                "optimizer.ema", optional: \.optimizer.ema, .range(0...0.999999),
                "decay of averaged weights, which are validated and kept as best; rises to it "
                    + "as (1 + step)/(10 + step)"),
            .init(
                "optimizer.groups", optional: \.optimizer.groups,
                ConfigurationRule(
                    wanted: "groups, separated by semicolons or in a list", separator: "; "
                ) { !$0.isEmpty },
                "parameters with settings of their own: "
                    + "\"stem.* stage2.*: rate=0.1 decay=0; head.*: rate=2 schedule=constant\", "
                    + "or a list with a text for each group"),
        ]
    }
}
