import RetintMLPackage

/// Which part of a transposed convolution's whole result is kept, in two dimensions.
struct TransposedExtent {
    /// Height and width without padding.
    let full: [Int]
    /// The cropping before and after, for height and width, that gives the declared result.
    let before: [Int]
    let after: [Int]
    /// Whether the declared result does not follow from the stated padding.
    let isOther: Bool
    /// Whether the stated padding differs before and after.
    let isUneven: Bool

    /// Nil for other operations, or if a size is not known.
    init?(_ operation: PlacedOperation) {
        guard operation.type == "conv_transpose", let input = operation.input("x")?.trailing(2),
            let kernel = operation.input("weight")?.trailing(2),
            let output = operation.output, output.rank == 4, let size = output.trailing(2),
            let padding = Self.padding(operation)
        else { return nil }
        let strides = operation.integers("strides") ?? [1, 1]
        let dilations = operation.integers("dilations") ?? [1, 1]
        guard strides.count == 2, dilations.count == 2,
            (input + kernel + size + padding + strides + dilations).allSatisfy(Self.isSmall)
        else { return nil }
        var extent: [Int] = []
        for axis in 0..<2 {
            let reach = (kernel[axis] - 1) * dilations[axis] + 1
            extent.append((input[axis] - 1) * strides[axis] + reach)
        }
        full = extent
        before = [padding[0], padding[2]]
        after = [extent[0] - padding[0] - size[0], extent[1] - padding[2] - size[1]]
        isOther = after != [padding[1], padding[3]]
        isUneven = padding[0] != padding[1] || padding[2] != padding[3]
    }

    /// Whether products of two such numbers cannot overflow.
    private static func isSmall(_ number: Int) -> Bool { (0..<1 << 30).contains(number) }

    private static func padding(_ operation: PlacedOperation) -> [Int]? {
        switch operation.string("pad_type") ?? "valid" {
        case "valid": [0, 0, 0, 0]
        case "custom": operation.integers("pad").flatMap { $0.count == 4 ? $0 : nil }
        default: nil
        }
    }
}
