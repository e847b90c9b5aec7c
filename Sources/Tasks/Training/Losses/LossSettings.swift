extension TrainingConfiguration {
    /// The loss that is minimized: its terms, in the order in which they are added up and their
    /// keys stand in files. A new term is a file beside this one and a property here.
    public struct LossSettings: Hashable, Sendable {
        /// How estimated colors are compared with those of the photo.
        public enum Kind: String, CaseIterable, Hashable, Sendable {
            /// |difference|, squared difference, or Huber loss of ab/110.
            case l1, mse, huber
            /// Cross-entropy of the distribution over ab bins.
            case classification
        }

        /// How estimated colors are compared with those of the photo.
        public var kind = Kind.huber
        /// The difference of colors, unless they are only classified.
        public var regression = RegressionLoss()
        /// The difference of distributions over ab bins.
        public var classification = ClassificationLoss()
        /// An additional weight of gray pixels in both.
        public var neutral = NeutralWeight()
        /// The difference of a colorizer's features.
        public var perceptual = PerceptualLoss()
        /// The differences of neighboring pixels.
        public var totalVariation = TotalVariationLoss()
        /// How much colors change when the image moves.
        public var temporal = TemporalLoss()
        /// How well a discriminator tells the colors from those of photos.
        public var adversarial = AdversarialLoss()

        /// The defaults.
        public init() {}

        /// Whether the loss compares distributions over bins.
        var classifies: Bool { kind == .classification || classification.weight > 0 }
    }

    /// A model to learn from (Hinton et al., "Distilling the Knowledge in a Neural Network", 2015),
    /// and the terms of the loss that compare with it.
    public struct DistillationSettings: Hashable, Sendable {
        /// The teacher: the path of a checkpoint or a package; nil: none.
        public var teacher: String?
        /// The share of the loss that compares with the teacher instead of the photo.
        public var weight = 0.5
        /// That share at the last step, reached linearly; nil: constant.
        public var finalWeight: Double?
        /// The difference of colors, as ``LossSettings/regression`` measures it.
        let colors = ColorDistillation()
        /// The difference of distributions over ab bins.
        public var logits = LogitDistillation()
        /// The difference of the outputs of modules.
        public var features = FeatureDistillation()

        /// The defaults.
        public init() {}
    }
}

extension TrainingConfiguration.LossSettings: ConfigurationSection {
    static var fields: [TrainingConfiguration.Field] {
        let kind = TrainingConfiguration.Field(
            "loss.kind", \.loss.kind, .any,
            "compares ab/110; classification: distributions over ab bins")
        return [kind] + sections(of: Self()).flatMap { type(of: $0).fields }
    }

    var terms: [any LossTerm] { sections(of: self).compactMap { $0 as? any LossTerm } }
}

extension TrainingConfiguration.DistillationSettings: ConfigurationSection {
    static var fields: [TrainingConfiguration.Field] {
        [
            .init(
                "distillation.teacher", optional: \.distillation.teacher,
                .path("a checkpoint or a package"), "a model to learn from"),
            .init(
                "distillation.weight", \.distillation.weight, .range(0...1),
                "share of the loss that compares with the teacher instead of the photo"),
            .init(
                "distillation.final_weight", optional: \.distillation.finalWeight, .range(0...1),
                "that share at the last step, reached linearly; null: constant"),
        ] + sections(of: Self()).flatMap { type(of: $0).fields }
    }

    /// None without a teacher.
    var terms: [any LossTerm] {
        teacher == nil ? [] : sections(of: self).compactMap { $0 as? any LossTerm }
    }

    /// The teacher's share of the loss at a step, counted from 0, of `total`.
    ///
    /// - Parameter elapsed: the share of the time limit that has passed, at which the share is if
    ///   the steps are not as far.
    func share(at step: Int, of total: Int, elapsed: Double = 0) -> Double {
        let last = finalWeight ?? weight
        let progress = max(Double(step) / Double(max(total - 1, 1)), min(elapsed, 1))
        return weight + (last - weight) * progress
    }
}

/// The properties of settings that have keys of their own, in their order.
private func sections(of settings: some Any) -> [any ConfigurationSection] {
    Mirror(reflecting: settings).children.compactMap { $0.value as? any ConfigurationSection }
}
