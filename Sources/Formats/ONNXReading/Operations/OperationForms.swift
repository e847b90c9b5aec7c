/// A family of operations, which is a file in this folder: rules by operation name.
protocol OperationFamily: SendableMetatype {
    static var rules: [String: OperationRule] { get }
}

/// The supported ONNX operations.
enum OperationForms {
    /// In alphabetical order. `OperationFormsTests` compares the list with the sources.
    static let all: [any OperationFamily.Type] = [
        Activations.self,
        Arithmetic.self,
        Casts.self,
        Comparisons.self,
        Convolutions.self,
        Einsums.self,
        Functions.self,
        Indexing.self,
        Joining.self,
        MatrixProducts.self,
        Normalizations.self,
        Pads.self,
        PixelShuffles.self,
        Pooling.self,
        Quantizing.self,
        Recurrent.self,
        Reductions.self,
        Resizing.self,
        Scans.self,
        Shapes.self,
        Slicing.self,
        Softmaxes.self,
    ]

    static let rules = Dictionary(uniqueKeysWithValues: all.flatMap { Array($0.rules) })
}
