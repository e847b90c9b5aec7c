import MLPackage

/// Compressed weights.
extension PlacementRule {
    static let weights = [
        PlacementRule(
            "palette-stride", "the stride of a convolution whose weights are places in a table",
            threshold: "above 2", .refused, .documented, sources: [PlacementSource.apple],
            advice: "Leave that convolution's weights as they are, or quantize them to int8.",
            check: .operation { operation in
                guard let unpacking = operation.unpacking("weight"),
                    unpacking.type.hasPrefix("constexpr_lut"),
                    let strides = operation.integers("strides"),
                    strides.contains(where: { $0 > 2 })
                else { return nil }
                return "has stride \(strides.times) and a table"
            }),
        PlacementRule(
            "block-scales", "weights of 4 bits and less with a scale for each block",
            threshold: "more than one scale for a channel", .refused, .contradicted,
            sources: [
                "Apple: coremltools guide, Optimization Overview (recommends them for GPUs)",
                "apple/coreai-models, issue 205 (left to the GPU)",
            ],
            advice: "Use a table (palette4) or one scale for each channel.",
            check: .operation { operation in
                guard let unpacking = operation.unpacking("weight"),
                    let blocks = blocks(unpacking), blocks.filter({ $0 > 1 }).count > 1
                else { return nil }
                return "has \(blocks.times) scales"
            }),
    ]

    /// How many blocks each dimension of weights of few bits is divided into.
    private static func blocks(_ operation: MILOperation) -> [Int]? {
        guard operation.type == "constexpr_blockwise_shift_scale",
            case .value(let data)? = operation.inputs["data"]?.first,
            case .value(let scale)? = operation.inputs["scale"]?.first,
            (data.type.dataType.bitWidth ?? 8) <= 4
        else { return nil }
        return scale.type.shape
    }
}
