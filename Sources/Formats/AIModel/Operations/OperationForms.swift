/// A family of operations, which is a file in this folder: translations in both directions.
protocol OperationFamily: SendableMetatype {
    /// By MIL type: adds the dialect's operations and returns the MIL operation's results.
    static var writers: [String: OperationWriter] { get }
    /// By the dialect's name: adds MIL operations and returns the results.
    static var readers: [String: OperationReader] { get }
}

typealias OperationWriter =
    @Sendable (_ graph: GraphWriter, _ operation: WrittenOperation) throws -> [WrittenValue]

typealias OperationReader =
    @Sendable (_ graph: GraphReader, _ operation: ReadOperation) throws -> [ReadValue]

/// The MIL operations that are written to `.aimodel`, and the operations that are read from it.
enum OperationForms {
    /// In alphabetical order. `OperationFormsTests` compares the list with the sources.
    static let all: [any OperationFamily.Type] = [
        ActivationQuantization.self,
        Activations.self,
        Compression.self,
        Convolutions.self,
        Elementwise.self,
        Joining.self,
        MatrixProducts.self,
        Normalizations.self,
        Pads.self,
        PixelShuffles.self,
        Pooling.self,
        Reductions.self,
        Resizing.self,
        Selection.self,
        Shapes.self,
        Slicing.self,
    ]

    static let writers = Dictionary(uniqueKeysWithValues: all.flatMap { Array($0.writers) })

    static let readers = Dictionary(uniqueKeysWithValues: all.flatMap { Array($0.readers) })
}
