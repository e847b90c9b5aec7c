/// A family of operations, which is a file in this folder: their translations, by MIL type.
protocol OperationFamily: SendableMetatype {
    static var forms: [String: Form] { get }
}

/// The MIL operations that are written as ONNX.
enum OperationForms {
    /// In alphabetical order. `OperationFormsTests` compares the list with the sources.
    static let all: [any OperationFamily.Type] = [
        ActivationQuantization.self,
        Activations.self,
        Casts.self,
        Comparisons.self,
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
        Shapes.self,
        Slicing.self,
    ]

    static let forms = Dictionary(uniqueKeysWithValues: all.flatMap { Array($0.forms) })

    /// The translation of operations that decompress weights.
    static let weights: [String: Form] = [
        "constexpr_affine_dequantize": { try $0.writeAffine() },
        "constexpr_blockwise_shift_scale": { try $0.writeShiftScale() },
        "constexpr_lut_to_dense": { try $0.writePalette() },
        "constexpr_sparse_to_dense": { try $0.writeDense("sparse weights are written dense") },
        "constexpr_cast": { try $0.writeHalfWeights() },
    ]
}
