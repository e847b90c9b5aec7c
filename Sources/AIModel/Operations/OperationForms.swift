/// A file of the folder Operations: how operations of the dialect and of MIL correspond.
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

/// The operations of MIL that are written as operations of the dialect, and the reverse.
enum OperationForms {
    /// In alphabetical order. `OperationFormsTests` compares them with what the sources declare.
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
