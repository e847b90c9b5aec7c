import RetintMLPackage

/// Rules for convolutions and transposed convolutions.
extension PlacementRule {
    static let convolutions = [
        PlacementRule(
            "dilation", "the dilation of a convolution", threshold: "2 or 3", .refused,
            .contradicted,
            sources: [
                "\(PlacementSource.hollance) (refused)", "\(PlacementSource.apple) (accepted)",
            ],
            advice: "Measure on the oldest device that you support, or use a stride or a larger "
                + "kernel instead.",
            check: .operation { operation in
                let rates = dilations(operation)
                let largest = rates.max() ?? 1
                return (2...3).contains(largest) ? "has dilation \(rates.times)" : nil
            }),
        PlacementRule(
            "large-dilation", "the dilation of a convolution", threshold: "above 3", .refused,
            .documented, sources: [PlacementSource.apple, PlacementSource.hollance],
            advice: "Chain convolutions of dilation 2 and 3 whose product is the dilation.",
            check: .operation { operation in
                let rates = dilations(operation)
                return rates.contains { $0 > 3 } ? "has dilation \(rates.times)" : nil
            }),
        PlacementRule(
            "large-kernel", "the kernel of a convolution",
            threshold: "above 7 in a dimension (Apple states no limit; its example splits 9)",
            .slow, .documented, sources: [PlacementSource.apple],
            advice: "Chain smaller kernels: two of 5 × 5 have the receptive field of one of 9 × 9.",
            check: .operation { operation in
                guard isConvolution(operation), let kernel = kernel(operation) else { return nil }
                return kernel.contains { $0 > 7 } ? "has a kernel of \(kernel.times)" : nil
            }),
        PlacementRule(
            "stride", "the stride of a convolution",
            threshold: "above 2, unless equal and a product of 2s and 3s, or 2 with 3, 4, 8 or 9",
            .slow, .documented,
            sources: [
                PlacementSource.apple,
                "apple/coremltools, issue 2473 (strides 5 and 7 never finish compiling)",
            ],
            advice: "Use strides 2, 3, 4, 6, 8, 9, 12, 16, 24 or 32, equal in both dimensions.",
            check: .operation { operation in
                guard operation.type == "conv", let strides = operation.integers("strides"),
                    !isEfficient(strides)
                else { return nil }
                return "has stride \(strides.times)"
            }),
        PlacementRule(
            "transposed-stride", "the stride of a transposed convolution",
            threshold: "unequal, or above 4", .refused, .reported,
            sources: ["apple/coremltools, issue 2450 (the compiler's own message)"],
            advice: "Upsample by 2 several times, each followed by a convolution.",
            check: .operation { operation in
                guard operation.type == "conv_transpose",
                    let strides = operation.integers("strides"),
                    Set(strides).count > 1 || strides.contains(where: { $0 > 4 })
                else { return nil }
                return "has stride \(strides.times)"
            }),
        PlacementRule(
            "channels", "the output channels of a convolution",
            threshold: "not a multiple of 16", .slow, .reported,
            sources: ["antmikinka, Optimization Guidelines for the Apple Neural Engine"],
            advice: "Choose widths that are multiples of 16, or better of 32. A network's last "
                + "layer may keep its width.",
            check: .operation { operation in
                guard isConvolution(operation), let output = operation.output, output.rank >= 3,
                    let channels = output.dimensions[1], channels % 16 != 0
                else { return nil }
                return "has \(channels) output channels"
            }),
    ]

    private static func isConvolution(_ operation: PlacedOperation) -> Bool {
        ["conv", "conv_transpose"].contains(operation.type)
    }

    private static func dilations(_ operation: PlacedOperation) -> [Int] {
        isConvolution(operation) ? operation.integers("dilations") ?? [] : []
    }

    /// The spatial extents of the weights.
    private static func kernel(_ operation: PlacedOperation) -> [Int]? {
        operation.input("weight").flatMap { $0.trailing(max($0.rank - 2, 0)) }
    }

    /// Whether the strides are among those that Apple documents as efficient.
    private static func isEfficient(_ strides: [Int]) -> Bool {
        guard let largest = strides.max(), largest > 2, let least = strides.min() else {
            return true
        }
        if largest != least { return least == 2 && [3, 4, 8, 9].contains(largest) }
        var rest = largest
        for factor in [2, 3] { while rest > 1 && rest % factor == 0 { rest /= factor } }
        return rest == 1 && largest <= 32
    }
}
