/// What became of the weights of a package.
public struct QuantizationReport: Hashable, Sendable, Encodable {
    /// A weight that takes fewer bits now.
    public struct Weight: Hashable, Sendable, Encodable {
        public let name: String
        /// The operation that it belongs to: `conv`, `conv_transpose`, ….
        public let operation: String
        public let shape: [Int]
        /// What it became: `int4 per-block 32`.
        public let scheme: String
        /// As the weight file has them, tables and scales among them.
        public let bytesBefore: Int
        public let bytesAfter: Int
        /// Signal to noise of the unpacked weight; nil if nothing was lost.
        public let snrDb: Double?
        /// Signal to noise of what the operation gives for the photos of the calibration; nil if
        /// nothing was lost, or nothing is known.
        public let outputSnrDb: Double?
    }

    /// A constant that was left as it is.
    public struct Skipped: Hashable, Sendable, Encodable {
        public let name: String
        public let shape: [Int]
        public let reason: String
    }

    /// A deployment target that was raised because the old one cannot decompress the weights.
    public struct RaisedTarget: Hashable, Sendable, Encodable {
        public let from: String
        public let to: String
        /// The scheme that needs the new target: `int8`.
        public let weights: String
    }

    /// Nil if the package keeps its deployment target.
    public internal(set) var raisedTarget: RaisedTarget?
    public internal(set) var compressed: [Weight] = []
    public internal(set) var skipped: [Skipped] = []

    public var bytesBefore: Int { compressed.reduce(0) { $0 + $1.bytesBefore } }
    public var bytesAfter: Int { compressed.reduce(0) { $0 + $1.bytesAfter } }
}
