import MLPackage

/// Whole numbers times a scale: w = scale·(code − zero point), one scale and zero point a block.
///
/// Ranges, rounding and zero points are those of coremltools' `linear_quantize_weights`.
struct AffineGrid: WeightGrid {
    let blocks: WeightBlocks
    let dataType: MILDataType
    /// The codes that are used: of an odd number where zero is in the middle.
    let range: ClosedRange<Int32>
    let scales: [Float]
    /// Nil where all are zero.
    let zeroPoints: [Int32]?

    /// - Parameters:
    ///   - precision: of the unpacked weights, and so of the scales.
    ///   - shrinking: what the range of each block is multiplied by: numbers beyond are cut off.
    init(
        _ values: [Float], _ blocks: WeightBlocks, as dataType: MILDataType,
        mode: QuantizationScheme.Mode, precision: MILDataType, shrinking: [Float]? = nil
    ) {
        (self.blocks, self.dataType) = (blocks, dataType)
        let range = Self.codeRange(dataType, mode)
        self.range = range
        var bounds = Self.bounds(values, blocks)
        if mode == .symmetric {
            bounds = bounds.map { (-max(-$0.low, $0.high), max(-$0.low, $0.high)) }
        }
        if let shrinking {
            bounds = zip(bounds, shrinking).map { ($0.low * $1, $0.high * $1) }
        }
        let steps = Float(range.upperBound - range.lowerBound)
        scales = bounds.map { Self.scale(($0.high - $0.low) / steps, precision) }
        zeroPoints = Self.zeroPoints(bounds, range, dataType, mode)
    }

    private static func codeRange(
        _ dataType: MILDataType, _ mode: QuantizationScheme.Mode
    ) -> ClosedRange<Int32> {
        let count = Int32(1) << Int32(dataType.bitWidth ?? 8)
        let shorter: Int32 = mode == .symmetric ? 1 : 0
        return dataType.isSigned
            ? -count / 2 + shorter...count / 2 - 1 : 0...count - 1 - shorter
    }

    /// The least and the greatest number of each block, and zero.
    private static func bounds(
        _ values: [Float], _ blocks: WeightBlocks
    ) -> [(low: Float, high: Float)] {
        var bounds = [(low: Float, high: Float)](repeating: (0, 0), count: blocks.count)
        blocks.forEachRun { run, block in
            var (low, high) = bounds[block]
            for index in run { (low, high) = (min(low, values[index]), max(high, values[index])) }
            bounds[block] = (low, high)
        }
        return bounds
    }

    /// A scale as the package can hold it; any will do for a block of zeros.
    private static func scale(_ value: Float, _ precision: MILDataType) -> Float {
        let held =
            precision == .float16
            ? HalfPrecision.floats(HalfPrecision.halfs([value]))[0] : value
        if held > 0 { return held }
        return value > 0 ? 0x1p-24 : 1
    }

    private static func zeroPoints(
        _ bounds: [(low: Float, high: Float)], _ range: ClosedRange<Int32>,
        _ dataType: MILDataType, _ mode: QuantizationScheme.Mode
    ) -> [Int32]? {
        guard mode == .linear else {
            return dataType.isSigned ? nil : bounds.map { _ in range.upperBound / 2 }
        }
        let (first, last) = (Float(range.lowerBound), Float(range.upperBound))
        return bounds.map { low, high in
            guard high > low else { return min(max(0, range.lowerBound), range.upperBound) }
            let zero = ((first * high - last * low) / (high - low)).rounded(.toNearestOrEven)
            return Int32(min(max(zero, first), last))
        }
    }

    func code(nearest value: Float, block: Int) -> Int32 {
        let steps = (value / scales[block]).rounded(.toNearestOrEven)
        // No weight is so far off that it would not fit, but a correction of it might be.
        let code = Int32(min(max(steps, -0x1p20), 0x1p20)) + (zeroPoints?[block] ?? 0)
        return min(max(code, range.lowerBound), range.upperBound)
    }

    func value(of code: Int32, block: Int) -> Float {
        scales[block] * Float(code - (zeroPoints?[block] ?? 0))
    }
}
