import RetintMLPackage

/// Rules for compressed weights.
extension PlacementRule {
    static let weights = [
        PlacementRule(
            "palette-stride", "the stride of a convolution with palettized weights",
            threshold: "above 2", .refused, .documented, sources: [PlacementSource.apple],
            advice: "Do not compress that convolution's weights, or quantize them to int8.",
            check: .operation { operation in
                guard let unpacking = operation.unpacking("weight"),
                    unpacking.type.hasPrefix("constexpr_lut"),
                    let strides = operation.integers("strides"),
                    strides.contains(where: { $0 > 2 })
                else { return nil }
                return "has stride \(strides.times) and palettized weights"
            }),
        PlacementRule(
            "block-scales", "weights of 4 bits or less with a scale for each block",
            threshold: "more than one scale per channel", .refused, .contradicted,
            sources: [
                "Apple: coremltools guide, Optimization Overview (recommends them for GPUs)",
                "apple/coreai-models, issue 205 (runs on the GPU)",
            ],
            advice: "Use a lookup table (palette4) or one scale per channel.",
            check: .operation { operation in
                guard let unpacking = operation.unpacking("weight"),
                    let blocks = blocks(unpacking), blocks.filter({ $0 > 1 }).count > 1
                else { return nil }
                return "has \(blocks.times) scales"
            }),
    ]

    /// The number of blocks in each dimension, for weights of 4 bits or less.
    private static func blocks(_ operation: MILOperation) -> [Int]? {
        guard operation.type == "constexpr_blockwise_shift_scale",
            case .value(let data)? = operation.inputs["data"]?.first,
            case .value(let scale)? = operation.inputs["scale"]?.first,
            (data.type.dataType.bitWidth ?? 8) <= 4
        else { return nil }
        return scale.type.shape
    }
}
