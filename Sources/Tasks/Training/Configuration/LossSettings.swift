extension TrainingConfiguration {
    /// The loss that is minimized.
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
        /// Where the Huber loss turns linear, in units of ab/110.
        public var delta = 0.1
        /// A weight for colorful pixels, `loss.saturation` in files: each pixel counts
        /// 1 + chromaWeight·|ab|/110.
        public var chromaWeight = 1.0
        /// The weight of an additional classification loss beside l1, mse or huber.
        public var classWeight = 0.0
        /// The number of bins over which a target of classification is spread.
        public var neighbors = 10
        /// The standard deviation of that spread, in units of ab.
        public var sigma = 5.0
        /// λ of class rebalancing, by 1/((1 − λ)·p + λ/bins); nil: all colors have the same weight.
        public var rebalance: Double? = 0.5
        /// An additional weight of pixels that are gray in the original: such a pixel counts
        /// 1 + neutral, decreasing as its chroma approaches ``neutralChroma``. An entirely gray
        /// image is not classified.
        public var neutral = 0.0
        /// The chroma, in units of ab, from which a pixel has no such weight.
        public var neutralChroma = 10.0
        /// The weight of the perceptual loss: the squared difference of a colorizer's features.
        public var perceptual = 0.0
        /// The checkpoint of that colorizer, which takes hints.
        public var perceptualNetwork: String?
        /// The modules whose outputs are its features, separated by spaces.
        public var perceptualModules = "model2 model3"
        /// The weight of the differences of neighboring pixels.
        public var totalVariation = 0.0
        /// The weight of the change of colors when the image moves by 4 pixels.
        public var temporal = 0.0

        /// The defaults.
        public init() {}
    }

    /// A model to learn from (Hinton et al., "Distilling the Knowledge in a Neural Network", 2015).
    public struct DistillationSettings: Hashable, Sendable {
        /// The teacher: the path of a checkpoint or a package; nil: none.
        public var teacher: String?
        /// The share of the loss that compares with the teacher instead of the photo.
        public var weight = 0.5
        /// That share at the last step, reached linearly; nil: constant.
        public var finalWeight: Double?
        /// The weight of the cross-entropy with the teacher's distribution over colors.
        public var logits = 0.0
        /// The temperature of both distributions there.
        public var temperature = 1.0
        /// Pairs of modules whose outputs should agree: `student=teacher`, or one name for both.
        public var features: String?
        /// How those outputs are compared.
        public var featureLoss = FeatureLoss.mse
        /// The weight of that difference.
        public var featureWeight = 1.0

        /// How outputs of modules are compared.
        public enum FeatureLoss: String, CaseIterable, Hashable, Sendable {
            /// The mean squared difference of outputs of the same shape.
            case mse
            /// The mean squared difference of the similarities of all pairs of positions; channels
            /// may differ.
            case pairwise
        }

        /// The defaults.
        public init() {}
    }
}
