/// How operations of the dialect and of MIL correspond, in both directions.
protocol DialectForms: SendableMetatype {
    /// By MIL type: adds the dialect's operations and returns the MIL operation's results.
    static var writers: [String: OperationWriter] { get }
    /// By the dialect's name: adds MIL operations and returns the results.
    static var readers: [String: OperationReader] { get }
}

typealias OperationWriter =
    @Sendable (_ graph: GraphWriter, _ operation: WrittenOperation) throws -> [WrittenValue]

typealias OperationReader =
    @Sendable (_ graph: GraphReader, _ operation: ReadOperation) throws -> [ReadValue]

enum AllForms {
    private static let families: [any DialectForms.Type] = [
        ActivationForms.self, CompressionForms.self, ConvolutionForms.self, ElementwiseForms.self,
        InterpolationForms.self, LayoutForms.self, MatrixForms.self, NormalizationForms.self,
        PoolingForms.self, QuantizationForms.self, ReductionForms.self, SelectionForms.self,
    ]

    static let writers = families.reduce(into: [String: OperationWriter]()) { all, family in
        all.merge(family.writers) { first, _ in first }
    }

    static let readers = families.reduce(into: [String: OperationReader]()) { all, family in
        all.merge(family.readers) { first, _ in first }
    }
}
