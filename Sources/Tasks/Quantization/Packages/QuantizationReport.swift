/// The weights of a package that were compressed, those that were not, and the values between its
/// operations that were quantized.
public struct QuantizationReport: Hashable, Sendable, Encodable {
    /// A compressed weight.
    public struct Weight: Hashable, Sendable, Encodable {
        /// The name of the weight in the package.
        public let name: String
        /// The type of the operation that uses it: `conv`, `conv_transpose`, ….
        public let operation: String
        /// The shape of the weight.
        public let shape: [Int]
        /// The description of its scheme, such as `int4 per-block 32`.
        public let scheme: String
        /// The size before compression, in bytes.
        public let bytesBefore: Int
        /// The size after compression, with tables and scales, in bytes.
        public let bytesAfter: Int
        /// The signal-to-noise ratio of the decompressed weight in dB; nil if it is exact.
        public let snrDb: Double?
        /// The signal-to-noise ratio of the operation's output on the calibration photos in dB; nil
        /// if it is exact, or without calibration.
        public let outputSnrDb: Double?
    }

    /// A value that operations use.
    public struct Activation: Hashable, Sendable, Encodable {
        /// The name of the value in the package.
        public let name: String
        /// The description of its scheme, such as `int8 symmetric mse`; nil if it stays a float.
        public internal(set) var scheme: String?
        /// The smallest number on the calibration inputs, at most 0.
        public let low: Float
        /// The largest number on the calibration inputs, at least 0.
        public let high: Float
        /// The distance between two integers' numbers.
        public internal(set) var scale: Float?
        /// The integer of the number 0.
        public internal(set) var zeroPoint: Int32?
        /// The signal-to-noise ratio of the integers in dB; nil if they are exact.
        public internal(set) var snrDb: Double?
        /// The change of the outputs when only this value is quantized; nil unless it was measured.
        public internal(set) var effect: OutputChange?
    }

    /// A weight that was not compressed.
    public struct Skipped: Hashable, Sendable, Encodable {
        /// The name of the weight in the package.
        public let name: String
        /// The shape of the weight.
        public let shape: [Int]
        /// Its size in bytes.
        public let bytes: Int
        /// Why it was not compressed.
        public let reason: String
    }

    /// A deployment target that was raised because the old one cannot decompress the weights.
    public struct RaisedTarget: Hashable, Sendable, Encodable {
        /// The deployment target before, such as `iOS15`.
        public let from: String
        /// The deployment target now, such as `iOS16`.
        public let to: String
        /// What needs the new target, such as `int8 weights`.
        public let reason: String
    }

    /// How the deployment target was raised; nil if the package keeps its target.
    public internal(set) var raisedTarget: RaisedTarget?
    /// The compressed weights.
    public internal(set) var compressed: [Weight] = []
    /// The values that operations use, if inputs of operations were quantized.
    public internal(set) var activations: [Activation] = []
    /// The weights that were not compressed.
    public internal(set) var skipped: [Skipped] = []

    /// The number of all weights.
    public var weightCount: Int { compressed.count + skipped.count }
    /// The size of all weights before compression, in bytes.
    public var bytesBefore: Int { compressed.reduce(skippedBytes) { $0 + $1.bytesBefore } }
    /// The size of all weights, with tables and scales, in bytes.
    public var bytesAfter: Int { compressed.reduce(skippedBytes) { $0 + $1.bytesAfter } }

    private var skippedBytes: Int { skipped.reduce(0) { $0 + $1.bytes } }
}
