import RetintMLPackage

/// Rules for every tensor: element types, ranks and sizes.
extension PlacementRule {
    static let tensors = [
        PlacementRule(
            "float32", "the element type of an operation's results",
            threshold: "float32, except casts", .refused, .documented,
            sources: [PlacementSource.typedExecution, PlacementSource.apple],
            advice: "Export with float16 precision.",
            check: .operation { operation in
                let isFloat = operation.outputs.contains { $0.dataType == .float32 }
                return isFloat && operation.type != "cast" ? "computes in float32" : nil
            }),
        PlacementRule(
            "integer", "the element type of an operation's results",
            threshold: "integers other than 8 and 16 bits, booleans", .refused,
            .documented, sources: [PlacementSource.apple],
            advice: "Compute indices and masks at conversion time, not at run time.",
            check: .operation { operation in
                let other = operation.outputs.first { !engineTypes.contains($0.dataType) }
                return other.map { "computes \($0.dataType)" }
            }),
        PlacementRule(
            "rank", "the rank of any tensor", threshold: "above 5", .refused, .documented,
            sources: [PlacementSource.apple, "apple/coremltools, issue 832"],
            advice: "Reshape to remove dimensions of size 1.",
            check: .operation { operation in
                operation.outputs.first { $0.rank > 5 }.map { "has rank \($0.rank)" }
            }),
        PlacementRule(
            "extent", "each dimension of any tensor", threshold: "above 16384", .refused,
            .reported,
            sources: [
                "FluidInference/mobius, pull request 61 (the compiler's own message)",
                "ncdrone/rustane, issue 13", "microsoft/onnxruntime, issue 19543",
            ],
            advice: "Split the tensor, or split the long dimension into two.",
            check: .operation { operation in
                let longest = operation.outputs.flatMap(\.dimensions).compactMap { $0 }.max() ?? 0
                return longest > 16384 ? "has a dimension of \(longest)" : nil
            }),
        PlacementRule(
            "narrow", "the last dimension of float tensors of rank 3 or more",
            threshold: "below 32 float16 elements (64 bytes)", .slow, .documented,
            sources: [
                PlacementSource.apple,
                "Apple: Deploying Transformers on the Apple Neural Engine",
            ],
            advice: "Rows are padded to 64 bytes: a last dimension of 1 costs 32 times the "
                + "memory. Move a longer dimension to the end, or use larger images.",
            check: .operation { operation in
                width(operation).flatMap { $0 < 32 ? "is \($0) wide" : nil }
            }),
        PlacementRule(
            "uneven-width", "the last dimension of float tensors of rank 3 or more",
            threshold: "above 32 and not a multiple of 32 float16 elements", .slow, .documented,
            sources: [PlacementSource.apple, "apple/coremltools, issue 2631"],
            advice: "Use a size for which the width of every stage is a multiple of 32.",
            check: .operation { operation in
                width(operation).flatMap { $0 > 32 && $0 % 32 != 0 ? "is \($0) wide" : nil }
            }),
        PlacementRule(
            "shape-range", "the sizes that an input accepts", threshold: "a range of sizes",
            .refused, .documented,
            sources: [
                "Apple: Developer Forums, thread 724930",
                "Apple: coremltools guide, Flexible Input Shapes", PlacementSource.apple,
            ],
            advice: "Only the default size runs on it. Use fixed or enumerated sizes; from "
                + "iOS 17.4 the hint that sizes change rarely helps.",
            check: .feature { $0.type.isRange ? "accepts a range of sizes" : nil }),
        PlacementRule(
            "listed-shapes", "the sizes that an input accepts", threshold: "more than one size",
            .refused, .contradicted,
            sources: [
                "Apple: coremltools guide, FAQs (each listed size runs on it)",
                "apple/coremltools, issues 1909 and 2370 (not with layer_norm, not always)",
            ],
            advice: "Export one package for each size if the listed ones are slow.",
            check: .feature { feature in
                feature.type.listedSizes > 1 ? "lists \(feature.type.listedSizes) sizes" : nil
            }),
    ]

    /// Includes float32, which has a separate rule.
    private static let engineTypes: Set<MILDataType> = [
        .float16, .float32, .int8, .uint8, .int16, .uint16,
    ]

    /// The last dimension of a float tensor of rank 3 or more; nil for others.
    private static func width(_ operation: PlacedOperation) -> Int? {
        guard let output = operation.output, output.rank >= 3, output.dataType.isFloat else {
            return nil
        }
        return output.dimensions.last ?? nil
    }
}

extension FeatureType {
    fileprivate var isRange: Bool {
        switch self {
        case .multiArray(let array):
            guard case .ranges(let ranges) = array.flexibility else { return false }
            return ranges.contains { $0.upper != $0.lower }
        case .image(let image):
            guard case .ranges = image.flexibility else { return false }
            return true
        }
    }

    /// The number of enumerated sizes; 0 if sizes are not enumerated.
    fileprivate var listedSizes: Int {
        switch self {
        case .multiArray(let array):
            guard case .enumerated(let shapes) = array.flexibility else { return 0 }
            return Set(shapes + [array.shape]).count
        case .image(let image):
            guard case .enumerated(let sizes) = image.flexibility else { return 0 }
            return Set(sizes.map { [$0.width, $0.height] } + [[image.width, image.height]]).count
        }
    }
}
