import RetintRuntime

/// The size, the time and the quality of several models, measured under the same conditions.
public struct ModelComparison: Sendable, Encodable {
    /// A network that all times are compared with.
    public struct Reference: Hashable, Sendable, Encodable {
        /// The name of the architecture.
        public let architecture: String
        /// The number of learned values.
        public let parameters: Int
        /// Multiply-adds of one image.
        public let multiplyAdds: Int
        /// The median time to color an image, in seconds.
        public let medianSeconds: Double
    }

    /// One of the models.
    public struct Entry: Sendable, Encodable {
        /// The name of the model: its path, if it was read from a file.
        public let name: String
        /// The model's parameters, operations and bytes.
        public let size: ModelComparison.Size
        /// The median time to color an image, in seconds.
        public let medianSeconds: Double
        /// The median of the rounds' ratios: the reference's time divided by the model's.
        public let speedup: Double
        /// The quality of the colors; nil if the comparison had no photos.
        public let quality: EvaluationReport?
    }

    /// The height and width, in pixels, of the images that colorizers color.
    public let size: Int
    /// The number of rounds of timing.
    public let rounds: Int
    /// ECCV16 with random weights.
    public let reference: Reference
    /// In the order in which the models were given.
    public let models: [Entry]
}

extension ModelComparison {
    /// The size of a model.
    public struct Size: Hashable, Sendable, Encodable {
        /// Learned values.
        public let parameters: Int
        /// Multiply-adds of one image.
        public let multiplyAdds: Int
        /// Operations of the package, without constants and the decompression of weights; those of
        /// the float16 package for a checkpoint or an ONNX file.
        public let operations: Int
        /// Bytes on disk of a package itself; nil for a checkpoint.
        public let packageBytes: Int?
        /// Bytes on disk of the network's package with float16 weights; nil for a package.
        public let float16Bytes: Int?
        /// Bytes on disk of the network's package with int8 weights; nil for a package, and if no
        /// weight is large enough.
        public let int8Bytes: Int?
    }
}
