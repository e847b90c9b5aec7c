public import RetintVerification

extension ModelDiff {
    /// The weights of two models, in the order in which they are used.
    public struct Weights: Codable, Sendable {
        /// Weights that both models have.
        public let pairs: [ModelDiff.WeightPair]
        /// Weights that only the first model has.
        public let onlyFirst: [ModelDiff.Weight]
        /// Weights that only the second model has.
        public let onlySecond: [ModelDiff.Weight]

        /// Whether both models have the same weights, up to their precision and names.
        public var areEqual: Bool {
            onlyFirst.isEmpty && onlySecond.isEmpty
                && pairs.allSatisfy { [.same, .rounded].contains($0.relation) }
        }
    }

    /// A weight.
    public struct Weight: Hashable, Codable, Sendable {
        /// Its name in the file; of a constant without a name, that of its operation.
        public let name: String
        /// Its extents.
        public let shape: [Int]
        /// How it is stored: `float16`, `int8`, `4-bit palette`; nil if the file does not say it
        /// for this weight.
        public let storage: String?
    }

    /// A weight of the first model, and the same one in the second.
    public struct WeightPair: Codable, Sendable {
        /// How the values of two weights are related.
        public enum Relation: String, Codable, CaseIterable, Sendable {
            /// All are equal.
            case same
            /// They are those of the other in another precision: rounded to float16, quantized or
            /// palettized, or with the rounding of other float32 arithmetic. The error is one that
            /// their precisions explain.
            case rounded
            /// They are equal in another order: transposed, or reversed along an axis.
            case reordered
            /// They are others.
            case changed
            /// The weights have the same name, and other shapes.
            case reshaped
        }

        /// The weight in the first model.
        public let first: ModelDiff.Weight
        /// The weight in the second model.
        public let second: ModelDiff.Weight
        /// How the values are related.
        public let relation: Relation
        /// The order that makes ``Relation/reordered`` weights equal, such as
        /// `axes [1, 0, 2, 3]`; nil if none of the usual ones does.
        public let order: String?
        /// The error of the second model's values against those of the first; nil if all are equal,
        /// also in another order, or the shapes differ.
        public let error: VerificationReport.ErrorMetrics?
        /// The largest error divided by the largest value of the first model; nil without
        /// ``error``.
        public let relativeError: Double?

        /// Whether the weights have different names.
        public var isRenamed: Bool { plainWeightName(first.name) != plainWeightName(second.name) }
    }
}
