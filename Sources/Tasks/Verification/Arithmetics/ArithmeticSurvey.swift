public import RetintFloat64

extension VerificationReport {
    /// What becomes of a model in many arithmetics of devices.
    public struct ArithmeticSurvey: Sendable, Codable {
        /// The model in one arithmetic.
        public struct Trial: Hashable, Sendable, Codable {
            /// The arithmetic.
            public let arithmetic: DeviceArithmetic
            /// Whether its outputs are within the bounds of the verification.
            public let passed: Bool
            /// The lowest SNR of an output in dB; nil if there are values that are not finite.
            public let snrDb: Double?
        }

        /// The digits that the arithmetics leave of a value.
        public struct Value: Hashable, Sendable, Codable {
            /// The name of an intermediate value or output.
            public let name: String
            /// The operation that computes it; empty for an output.
            public let operation: String
            /// The significant decimal digits on which the arithmetics agree, 0…15.95.
            public let digits: Double
            /// Those on which they agree with float64, 0…15.95.
            public let digitsAgainstFloat64: Double
            /// The number of arithmetics in which there is NaN or infinity.
            public let nonFinite: Int
        }

        /// An operation whose result has fewer digits than what it is computed from.
        public struct FragileOperation: Hashable, Sendable, Codable {
            /// The name of its value.
            public let name: String
            /// Its type.
            public let operation: String
            /// The digits of the operand that has the fewest, at most those of the format.
            public let operandDigits: Double
            /// The digits of its result.
            public let digits: Double
            /// The digits of the outputs, at worst, if this operation alone is computed in the
            /// arithmetics that are the worst for it, and all others exactly.
            public let outputDigits: Double

            /// The digits that it loses.
            public var lostDigits: Double { operandDigits - digits }
        }

        /// The seed from which the arithmetics were drawn; nil if they were named.
        public let seed: UInt64?
        /// The model in each arithmetic.
        public let trials: [Trial]
        /// The digits of all outputs.
        public let outputs: [Value]
        /// The digits of all intermediate values, in the order of computation.
        public let layers: [Value]
        /// Operations that lose digits, the one with the largest effect on the outputs first.
        public let fragile: [FragileOperation]

        /// The share of arithmetics in which the model passes. It is a share of those that were
        /// tried, and not of devices.
        public var passing: BinomialShare {
            BinomialShare(passed: trials.count(where: \.passed), of: trials.count)
        }

        /// The arithmetic with the largest error of an output.
        public var worst: Trial? {
            trials.min { ($0.snrDb ?? -.infinity) < ($1.snrDb ?? -.infinity) }
        }
    }
}
