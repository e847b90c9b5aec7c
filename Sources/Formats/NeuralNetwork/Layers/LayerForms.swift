/// A family of layers, which is a file in this folder.
protocol LayerFamily: SendableMetatype {
    /// By the layer's type: adds operations and returns the layer's outputs.
    static var readers: [String: LayerReader] { get }
}

typealias LayerReader = @Sendable (ReadLayer) throws -> [LayerValue]

/// The layers of neural networks that are read.
enum LayerForms {
    /// In alphabetical order. `LayerFormsTests` compares the list with the sources.
    static let all: [any LayerFamily.Type] = [
        Activations.self,
        Arithmetic.self,
        Comparisons.self,
        Constants.self,
        Convolutions.self,
        Joining.self,
        MatrixProducts.self,
        Normalizations.self,
        Pads.self,
        Pooling.self,
        Rearrangement.self,
        Recurrent.self,
        Reductions.self,
        Resizing.self,
        Scaling.self,
        Selection.self,
        Shapes.self,
        Slicing.self,
        UnaryFunctions.self,
    ]

    static let readers = Dictionary(uniqueKeysWithValues: all.flatMap { Array($0.readers) })
}
