import RetintMLPackage

/// Rules for pooling, resizing and padding.
extension PlacementRule {
    static let spatial = [
        PlacementRule(
            "upsampling", "the factor by which an image is resized",
            threshold: "anything but 1 and 2", .refused, .reported,
            sources: [PlacementSource.hollance, PlacementSource.kernelLog],
            advice: "Upsample by 2 several times, or use pixel_shuffle.",
            check: .operation { operation in
                guard resizing.contains(operation.type), let factors = factors(operation),
                    factors.contains(where: { $0 != 1 && $0 != 2 })
                else { return nil }
                return "resizes by \(factors.map(Self.text).joined(separator: " × "))"
            }),
        PlacementRule(
            "resize-grid", "the sampling grid of a bilinear resize",
            threshold: "aligned corners or half-pixel centers", .refused,
            .contradicted,
            sources: [
                "google-ai-edge/LiteRT, issue 158 (refused by its delegate)",
                "\(PlacementSource.hollance) (upsampling was observed to run)",
            ],
            advice: "Measure; nearest-neighbor upsampling followed by a convolution is safe.",
            check: .operation { operation in
                sampling(operation).map { "samples with \($0)" }
            }),
        PlacementRule(
            "pool-kernel", "the window of a pooling operation",
            threshold: "above 13 in a dimension", .refused, .reported,
            sources: [PlacementSource.kernelLog, PlacementSource.hollance],
            advice: "Pool in two steps, or use reduce_mean over the entire image.",
            check: .operation { operation in
                guard pooling.contains(operation.type),
                    let sizes = operation.integers("kernel_sizes"),
                    sizes.contains(where: { $0 > 13 })
                else { return nil }
                return "pools \(sizes.times)"
            }),
        PlacementRule(
            "pool-stride", "the stride of a pooling operation", threshold: "above 2, other than 4",
            .slow, .documented, sources: [PlacementSource.apple, PlacementSource.kernelLog],
            advice: "Pool with stride 2, once or twice.",
            check: .operation { operation in
                guard pooling.contains(operation.type),
                    let strides = operation.integers("strides"),
                    strides.contains(where: { $0 > 2 && $0 != 4 })
                else { return nil }
                return "pools with stride \(strides.times)"
            }),
        PlacementRule(
            "pool-stride-4", "the stride of a pooling operation", threshold: "4", .refused,
            .contradicted,
            sources: [
                "\(PlacementSource.kernelLog) (refused)", "\(PlacementSource.apple) (accepted)",
            ],
            advice: "Pool with stride 2 twice.",
            check: .operation { operation in
                guard pooling.contains(operation.type),
                    operation.integers("strides")?.contains(4) == true
                else { return nil }
                return "pools with stride 4"
            }),
        PlacementRule(
            "padding", "padding that is not constant",
            threshold: "in more than the last two dimensions", .refused, .documented,
            sources: [
                "apple/coremltools, issue 2576 (Core ML fails to load it)",
                "webmachinelearning/webnn, issue 739",
            ],
            advice: "Pad only height and width.",
            check: .operation { operation in
                guard operation.type == "pad", let mode = operation.string("mode"),
                    mode != "constant", let amounts = operation.integers("pad"),
                    amounts.dropLast(4).contains(where: { $0 != 0 })
                else { return nil }
                return "pads with mode \(mode) in \(amounts.count / 2) dimensions"
            }),
    ]

    private static let pooling: Set<String> = ["avg_pool", "max_pool", "l2_pool"]

    private static let resizing: Set<String> = [
        "upsample_bilinear", "upsample_nearest_neighbor", "resize_bilinear",
        "resize_nearest_neighbor", "resize",
    ]

    /// Output over input height and width; nil if sizes are unknown.
    private static func factors(_ operation: PlacedOperation) -> [Double]? {
        guard let before = operation.input("x")?.trailing(2),
            let after = operation.output?.trailing(2), !before.contains(0)
        else { return nil }
        return zip(before, after).map { Double($1) / Double($0) }
    }

    private static func text(_ factor: Double) -> String {
        if let integer = Int(exactly: factor) { return "\(integer)" }
        return "\((factor * 100).rounded() / 100)"
    }

    /// The sampling grid of a bilinear resize; nil for the default grid, i·in/out.
    private static func sampling(_ operation: PlacedOperation) -> String? {
        switch operation.type {
        case "upsample_bilinear":
            let isAligned = operation.bool("align_corners") ?? true
            let isHalf = operation.bool("half_pixel_centers") ?? !isAligned
            return isAligned ? "aligned corners" : isHalf ? "half-pixel centers" : nil
        case "resize_bilinear", "resize":
            let kind = operation.string("interpolation_mode") ?? "LINEAR"
            guard kind == "LINEAR" else { return nil }
            let mode = operation.string("sampling_mode") ?? "DEFAULT"
            return mode == "DEFAULT" ? nil : mode
        default: return nil
        }
    }
}
