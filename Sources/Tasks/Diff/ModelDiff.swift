public import RetintRuntime
public import RetintVerification

/// What differs between two models of any formats: the interface, the operations, the weights by
/// value, the metadata and, once they are compared, the outputs.
///
/// ```swift
/// var diff = try ModelDiff(first, second)
/// diff.numbers = try second.verify(against: first)
/// ```
public struct ModelDiff: Sendable {
    /// The first model, which is the reference.
    public let first: ModelDiff.Side
    /// The second model, which is compared with it.
    public let second: ModelDiff.Side
    /// What the files say beside the network: target, operation set, producer.
    public let properties: [ModelDiff.Change]
    /// Inputs and outputs: names, shapes, element types, channels of images, roles and scaling.
    public let interface: [ModelDiff.Change]
    /// The operations.
    public let operations: ModelDiff.Operations
    /// The weights.
    public let weights: ModelDiff.Weights
    /// Texts of the author, and of the programs that wrote the files.
    public let metadata: [ModelDiff.Change]
    /// The comparison of the outputs on the same inputs; nil if the models did not run.
    public var numbers: VerificationReport?
    /// Why there are no ``numbers`` although they were requested: the models do not take the same
    /// inputs, or do not return the same outputs.
    public var obstacle: String?

    /// Compares two models that were read from files; they do not run.
    ///
    /// A checkpoint beside a model of another format is compared in the form in which it is
    /// exported: with re-parameterized convolutions and batch normalizations folded.
    ///
    /// - Throws: the errors of `Inspection.init(of:placement:key:)` and of reading weights.
    public init(_ first: Model, _ second: Model) throws {
        let (one, other) = (try ComparedModel(first), try ComparedModel(second))
        (self.first, self.second) = (one.side, other.side)
        properties = ModelDiff.changes(one.properties, other.properties)
        metadata = ModelDiff.changes(one.metadata, other.metadata)
        let (own, theirs) = (one.asWritten(beside: other), other.asWritten(beside: one))
        interface = ModelDiff.changes(own.interface, theirs.interface).filter {
            !own.leavesOpen($0.place, of: theirs)
        }
        let (a, b) = (one.comparable(to: other), other.comparable(to: one))
        operations = ModelDiff.Operations(one, other, as: a, b)
        weights = try ModelDiff.Weights(
            a.weights(one.inspection.storedTypes), b.weights(other.inspection.storedTypes))
    }

    /// What a place of a label begins with.
    static let label = "label "
    /// The place of the outputs that labels are for.
    static let labels = "labels"

    /// Whether a classifier has other labels, so that equal numbers mean something else.
    private var hasOtherLabels: Bool {
        // What only one of them has labels for, as ONNX has none, is the same network.
        let lacksLabels = interface.contains {
            $0.place == Self.labels && ($0.first == nil || $0.second == nil)
        }
        return !lacksLabels && interface.contains { $0.place.hasPrefix(Self.label) }
    }

    /// Whether the models are equal: their outputs are within the bounds, and the labels of
    /// classifiers are the same. Without a run, it means that interface, operations and weights
    /// are the same; weights of another precision count as the same.
    public var isEqual: Bool {
        if let numbers { return numbers.passed && !hasOtherLabels }
        return obstacle == nil && interface.isEmpty && operations.areEqual && weights.areEqual
    }
}

extension ModelDiff {
    /// One of the models.
    public struct Side: Hashable, Codable, Sendable {
        /// The path of the file, as the caller gave it.
        public let file: String
        /// The name of its format.
        public let format: String
        /// The size of the file, or of all files in the folder, in bytes.
        public let bytes: Int
        /// The size of the weights in the file, in bytes.
        public let weightBytes: Int
        /// The precision of the weights.
        public let precision: ModelPrecision
        /// The arithmetic that the model itself declares.
        public let compute: ComputePrecision
    }

    /// Something that is stated differently.
    public struct Change: Hashable, Codable, Sendable {
        /// What it is, such as `input image: shape`.
        public let place: String
        /// What the first model has; nil if it has nothing of the kind.
        public let first: String?
        /// What the second model has; nil if it has nothing of the kind.
        public let second: String?
    }

    /// The coarser of the two precisions, on which the bounds of the outputs depend.
    public static func coarser(_ first: Model, _ second: Model) -> ModelPrecision {
        let order: [ModelPrecision] = [.quantized, .float16]
        return order.first { [first.precision, second.precision].contains($0) } ?? .float32
    }

    /// The texts that differ, in the order in which the first model has them.
    static func changes(
        _ first: [(String, String)], _ second: [(String, String)]
    ) -> [ModelDiff.Change] {
        let (own, theirs) = (Dictionary(first) { $1 }, Dictionary(second) { $1 })
        let places = first.map(\.0) + second.map(\.0).filter { own[$0] == nil }
        return places.compactMap { place in
            guard own[place] != theirs[place] else { return nil }
            return ModelDiff.Change(place: place, first: own[place], second: theirs[place])
        }
    }
}

extension ModelDiff: Codable {
    private enum CodingKeys: String, CodingKey {
        case isEqual, first, second, properties, interface, operations, weights, metadata
        case numbers, obstacle
    }

    /// Decodes a comparison.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        first = try container.decode(Side.self, forKey: .first)
        second = try container.decode(Side.self, forKey: .second)
        properties = try container.decode([Change].self, forKey: .properties)
        interface = try container.decode([Change].self, forKey: .interface)
        operations = try container.decode(Operations.self, forKey: .operations)
        weights = try container.decode(Weights.self, forKey: .weights)
        metadata = try container.decode([Change].self, forKey: .metadata)
        numbers = try container.decodeIfPresent(VerificationReport.self, forKey: .numbers)
        obstacle = try container.decodeIfPresent(String.self, forKey: .obstacle)
    }

    /// Encodes the comparison, and as `isEqual` what follows from it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(isEqual, forKey: .isEqual)
        try container.encode(first, forKey: .first)
        try container.encode(second, forKey: .second)
        try container.encode(properties, forKey: .properties)
        try container.encode(interface, forKey: .interface)
        try container.encode(operations, forKey: .operations)
        try container.encode(weights, forKey: .weights)
        try container.encode(metadata, forKey: .metadata)
        try container.encodeIfPresent(numbers, forKey: .numbers)
        try container.encodeIfPresent(obstacle, forKey: .obstacle)
    }
}
