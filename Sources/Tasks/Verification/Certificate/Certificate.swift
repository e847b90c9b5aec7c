extension VerificationReport {
    /// What holds for a model on all inputs, by bounds on every value, and how near a search came
    /// to them.
    ///
    /// The arithmetic that the bounds are about: results that the package declares as float16 are
    /// rounded to the nearest; the steps of an operation are rounded to float32, its sums are added
    /// in float32 in any order, and functions such as exponentials have relative errors of up to
    /// 2⁻²⁰.
    public struct Certificate: Sendable, Codable {
        /// The range of an input.
        public struct Input: Hashable, Sendable, Codable {
            /// The name of the input.
            public let name: String
            /// The lowest value of each channel, or one for all.
            public let lower: [Float]
            /// The highest value of each channel, or one for all.
            public let upper: [Float]
        }

        /// The bounds of an intermediate value, as it is computed.
        public struct Value: Hashable, Sendable, Codable {
            /// Its name.
            public let name: String
            /// The operation that computes it.
            public let operation: String
            /// No element is below.
            public let lower: Double
            /// No element is above.
            public let upper: Double
            /// No element differs more from exact arithmetic.
            public let error: Double
        }

        /// The bounds of an output, as it is computed.
        public struct Output: Hashable, Sendable, Codable {
            /// Its name.
            public let name: String
            /// No element is below.
            public let lower: Double
            /// No element is above.
            public let upper: Double
            /// No element differs more from exact arithmetic.
            public let error: Double
            /// The largest difference that the search found; nil if it was not searched for.
            public let found: Double?
        }

        /// Something that the bounds do not exclude.
        public struct Gap: Hashable, Sendable, Codable {
            /// The name of the operation's value.
            public let name: String
            /// The operation.
            public let operation: String
            /// What is not excluded.
            public let reason: String
            /// The largest magnitude that the search found before rounding; nil if it was not
            /// searched for.
            public let found: Double?
        }

        /// An input on which the model has NaN or infinity.
        public struct Refutation: Hashable, Sendable, Codable {
            /// The name of the first value with NaN or infinity.
            public let name: String
            /// The operation that computes it.
            public let operation: String
            /// The number of its elements that are NaN or infinite.
            public let count: Int
        }

        /// The ranges of the inputs, in the units in which they are given.
        public let inputs: [Input]
        /// The bounds of all intermediate values, in the order of computation.
        public let layers: [Value]
        /// The bounds of the outputs. They hold as far as there is no infinity before.
        public let outputs: [Output]
        /// What the bounds do not exclude, in the order of computation; empty if there is neither
        /// NaN nor infinity for any input.
        public let gaps: [Gap]
        /// An input on which the model has NaN or infinity; nil if none was found.
        public let refutation: Refutation?
        /// The number of inputs that the search tried.
        public let tried: Int
        /// The worst input that the search found: one with infinity or NaN, else that with the
        /// largest error. It is not coded.
        public var picture: CertificatePicture?

        private enum CodingKeys: String, CodingKey {
            case inputs, layers, outputs, gaps, refutation, tried
        }

        /// Whether neither NaN nor infinity can occur for any input.
        public var isShown: Bool { gaps.isEmpty && refutation == nil }

        /// A sentence if an input has infinity or NaN.
        public var failure: String? {
            refutation.map {
                "there is an input on which \($0.count) elements of \($0.name) are NaN or "
                    + "infinite"
            }
        }
    }
}

/// A picture whose levels are the input of a model.
public struct CertificatePicture: Hashable, Sendable {
    /// The input that takes it.
    public let input: String
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// Red, green and blue of each pixel, row by row; the channels of the input in their order.
    public let pixels: [UInt8]
}
