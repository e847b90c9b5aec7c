/// A file of the folder Operations: how operations of ONNX are read, by their names.
protocol OperationFamily: SendableMetatype {
    static var rules: [String: OperationRule] { get }
}

/// The operations of ONNX that are read.
enum OperationForms {
    /// In alphabetical order. `OperationFormsTests` compares them with what the sources declare.
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
        Reductions.self,
        Resizing.self,
        Scans.self,
        Shapes.self,
        Slicing.self,
        Softmaxes.self,
    ]

    static let rules = Dictionary(uniqueKeysWithValues: all.flatMap { Array($0.rules) })
}
