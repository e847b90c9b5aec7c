import RetintMIL

/// How a kernel moves over an image: the parameters that convolutions and poolings share.
struct SlidingWindow {
    let kernel: [Int]
    let strides: [Int]
    let dilations: [Int]
    var before: [Int]
    var after: [Int]
    /// ONNX's word for padding that depends on the size of the image; nil if it does not.
    private(set) var automatic: String?

    /// Sizes beyond these have no use, and arithmetic on them stays in range.
    private static let largest = 1 << 24

    /// - Parameter resolvesSame: whether `same` means that a transposed convolution multiplies the
    ///   size by the stride.
    init(
        _ operation: TranslatedOperation, kernel: [Int], resolvesSame: Bool = false
    ) throws {
        let count = kernel.count
        self.kernel = kernel
        strides = try operation.integers("strides", count: count, default: 1)
        dilations = try operation.integers("dilations", count: count, default: 1)
        (before, after) = ([Int](repeating: 0, count: count), [Int](repeating: 0, count: count))
        let range = 1...Self.largest
        guard (kernel + strides + dilations).allSatisfy(range.contains) else {
            throw operation.error("its kernel, strides or dilations are out of range")
        }
        switch try operation.string("pad_type", default: "valid") {
        case "valid": break
        case "custom": try setPadding(operation)
        case "same" where resolvesSame: try setSamePadding(operation)
        case "same": automatic = "SAME_UPPER"
        case "same_lower" where !resolvesSame: automatic = "SAME_LOWER"
        case let type: throw operation.error("the pad_type \"\(type)\" is not supported")
        }
    }

    /// MIL lists the amounts before and after for each axis, ONNX all before and then all after.
    private mutating func setPadding(_ operation: TranslatedOperation) throws {
        let amounts = try operation.integers("pad", count: 2 * kernel.count, default: 0)
        guard amounts.allSatisfy({ (0...Self.largest).contains($0) }) else {
            throw operation.error("its padding \(amounts) is out of range")
        }
        for axis in kernel.indices {
            (before[axis], after[axis]) = (amounts[2 * axis], amounts[2 * axis + 1])
        }
    }

    private mutating func setSamePadding(_ operation: TranslatedOperation) throws {
        for axis in kernel.indices {
            let total = (kernel[axis] - 1) * dilations[axis] + 1 - strides[axis]
            guard total >= 0, total.isMultiple(of: 2) else {
                throw operation.error("pad_type same is only supported for even padding")
            }
            (before[axis], after[axis]) = (total / 2, total / 2)
        }
    }

    /// The size of a transposed convolution along an axis before cropping.
    func fullExtent(_ axis: Int, of size: Int) -> Int {
        (min(size, Self.largest) - 1) * strides[axis] + (kernel[axis] - 1) * dilations[axis] + 1
    }

    var attributes: Attributes {
        var attributes: Attributes = ["kernel_shape": .ints(kernel), "strides": .ints(strides)]
        if let automatic {
            attributes.add("auto_pad", .string(automatic))
        } else {
            attributes.add("pads", .ints(before + after))
        }
        return attributes
    }
}
