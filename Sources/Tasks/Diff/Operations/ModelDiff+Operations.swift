import RetintRuntime

extension ModelDiff {
    /// What two models compute, operation by operation.
    ///
    /// Operations are compared as retint's engine runs them, in the order of computation, so that
    /// models of two formats can be compared, and conversions between float16 and float32 do not
    /// matter; those are among ``counts`` if both files are of the same format. Shapes are compared
    /// if both models take inputs of the same shapes.
    public struct Operations: Codable, Sendable {
        /// The number of operations of each kind, by name: the file's own kinds if both models have
        /// the same format.
        public let counts: [ModelDiff.OperationCount]
        /// The first operation that differs in the order of computation; nil if none does.
        public let firstDifference: ModelDiff.OperationDifference?
        /// Why operations could not be compared in their order; nil if they were.
        public let obstacle: String?

        /// Whether both models compute the same operations in the same order.
        public var areEqual: Bool { firstDifference == nil && obstacle == nil }
    }

    /// How many operations of a kind two models have.
    public struct OperationCount: Hashable, Codable, Sendable {
        /// The kind.
        public let kind: String
        /// Their number in the first model.
        public let first: Int
        /// Their number in the second model.
        public let second: Int
    }

    /// Two operations at the same place in the order of computation.
    public struct OperationDifference: Codable, Sendable {
        /// The number of operations before it, which are equal.
        public let index: Int
        /// The operation of the first model; nil if it has no more.
        public let first: ModelDiff.OperationPlace?
        /// The operation of the second model; nil if it has no more.
        public let second: ModelDiff.OperationPlace?
        /// What differs: the kind, the shape, the operands or parameters.
        public let changes: [ModelDiff.Change]
    }

    /// An operation and its place in a model.
    public struct OperationPlace: Hashable, Codable, Sendable {
        /// The name in the file, or the path of the module that computes it.
        public let name: String
        /// PyTorch's name of the operation, if there is one.
        public let operation: String
        /// The shape of its result.
        public let shape: [Int]
    }
}

extension ModelDiff.Operations {
    /// - Parameters: the models, and the same models in a form in which they can be compared.
    init(_ one: ComparedModel, _ other: ComparedModel, as first: Model, _ second: Model) {
        let isOneFormat = one.format == other.format
        var own = isOneFormat ? one.inspection.operationCounts : nil
        var theirs = isOneFormat ? other.inspection.operationCounts : nil
        do {
            let (a, b, haveSameInputs) = try Step.lists(first, second)
            (own, theirs) = (own ?? Step.counts(a), theirs ?? Step.counts(b))
            firstDifference = Step.firstDifference(a, b, comparesShapes: haveSameInputs)
            obstacle = nil
        } catch {
            (firstDifference, obstacle) = (nil, "\(error)")
        }
        counts = Self.counts(own ?? [:], theirs ?? [:])
    }

    private static func counts(
        _ own: [String: Int], _ theirs: [String: Int]
    ) -> [ModelDiff.OperationCount] {
        Set(own.keys).union(theirs.keys).sorted().map { kind in
            ModelDiff.OperationCount(
                kind: kind, first: own[kind] ?? 0, second: theirs[kind] ?? 0)
        }
    }
}
