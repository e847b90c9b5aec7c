/// The translation of each MIL operation, by its type. A family of operations is a file in
/// Operations.
enum Forms {
    static let all: [String: Form] = [
        Elementwise.forms, Comparisons.forms, Activations.forms, Convolutions.forms,
        Pooling.forms, Normalizations.forms, Products.forms, Reductions.forms, Layouts.forms,
        Slicing.forms, Joining.forms, Padding.forms, PixelShuffles.forms, Resizing.forms,
        Casts.forms, ActivationQuantization.forms,
    ].reduce(into: [:]) { all, family in all.merge(family) { first, _ in first } }

    /// The translation of operations that decompress weights.
    static let weights: [String: Form] = [
        "constexpr_affine_dequantize": { try $0.writeAffine() },
        "constexpr_blockwise_shift_scale": { try $0.writeShiftScale() },
        "constexpr_lut_to_dense": { try $0.writePalette() },
        "constexpr_sparse_to_dense": { try $0.writeDense("sparse weights are written dense") },
        "constexpr_cast": { try $0.writeHalfWeights() },
    ]
}
