import RetintMLPackage

enum Pooling: OperationFamily {
    static let forms: [String: Form] = [
        "max_pool": { operation in
            let pool = try Pool(operation)
            operation.result("MaxPool", [try operation.tensor("x")], pool.attributes)
        },
        "avg_pool": { operation in
            let pool = try Pool(operation)
            var attributes = pool.attributes
            let countsPadding = try pool.countsPadding(operation)
            attributes.add("count_include_pad", Attribute(countsPadding))
            operation.result("AveragePool", [try operation.tensor("x")], attributes)
        },
    ]
}

/// The window of a pooling.
private struct Pool {
    private var window: SlidingWindow
    private let hasPadding: Bool
    /// Whether the last windows reach beyond image and padding.
    private var isExtended = false
    /// Whether ONNX must compute the padding at run time, because sizes are not known.
    private var roundsUp = false

    init(_ operation: TranslatedOperation) throws {
        let sizes = try operation.requiredIntegers("kernel_sizes")
        window = try SlidingWindow(operation, kernel: sizes)
        hasPadding = (window.before + window.after).contains { $0 > 0 }
        if try operation.bool("ceil_mode", default: false) {
            try extend(operation.type(of: "x").dimensions.suffix(sizes.count))
        }
    }

    /// Widens the padding to complete windows.
    private mutating func extend(_ dimensions: ArraySlice<Int?>) {
        let sizes = dimensions.compactMap(\.self)
        guard sizes.count == window.kernel.count else {
            (isExtended, roundsUp) = (true, true)
            return
        }
        for (axis, size) in sizes.enumerated() {
            let covered = window.before[axis] + window.after[axis] - window.kernel[axis]
            let (extent, overflow) = size.addingReportingOverflow(covered)
            let rest = overflow || extent <= 0 ? 0 : extent % window.strides[axis]
            guard rest > 0 else { continue }
            window.after[axis] += window.strides[axis] - rest
            isExtended = true
        }
    }

    var attributes: Attributes {
        var attributes = window.attributes
        if roundsUp { attributes.add("ceil_mode", 1) }
        return attributes
    }

    /// Whether padding is part of an average; elements beyond the padding never are.
    func countsPadding(_ operation: TranslatedOperation) throws -> Bool {
        guard try !operation.bool("exclude_padding_from_average", default: false) else {
            return false
        }
        guard !isExtended || !hasPadding else {
            throw operation.error(
                "ceil_mode with averaged padding needs windows that fit exactly")
        }
        return !isExtended
    }
}
