import RetintMLPackage

/// Affine quantization: w = scale·(code − zero point), with one scale and zero point per block.
///
/// Ranges, rounding and zero points are those of coremltools' `linear_quantize_weights`.
struct AffineGrid: WeightGrid {
    let blocks: WeightBlocks
    let dataType: MILDataType
    /// The codes in use. In symmetric mode their number is odd, so that zero is in the middle.
    private(set) var range: ClosedRange<Int32>
    /// One scale per block.
    let scales: [Float]
    /// One zero point per block; nil if all are zero.
    let zeroPoints: [Int32]?

    /// - Parameters:
    ///   - precision: the data type of the decompressed weight, and so of the scales.
    ///   - leastScales: lower bounds of the blocks' scales, which are also the scales of blocks of
    ///     zeros; see ``PackageRewriting/leastScales(of:_:)``.
    ///   - shrinking: a factor for the range of each block; values outside it are clipped.
    init(
        _ values: [Float], _ blocks: WeightBlocks, as dataType: MILDataType,
        mode: QuantizationScheme.Mode, precision: MILDataType, leastScales: [Float]? = nil,
        shrinking: [Float]? = nil
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
        scales = bounds.enumerated().map { block, range in
            let scale = (range.high - range.low) / steps
            return Self.scale(max(scale, leastScales?[block] ?? 0), precision)
        }
        zeroPoints = Self.zeroPoints(bounds, range, dataType, mode)
    }

    /// The same grid with all codes of its type: `quantize` does not leave one out in symmetric
    /// mode.
    var withAllCodes: AffineGrid {
        var grid = self
        grid.range = Self.codeRange(dataType, .linear)
        return grid
    }

    private static func codeRange(
        _ dataType: MILDataType, _ mode: QuantizationScheme.Mode
    ) -> ClosedRange<Int32> {
        let count = Int32(1) << Int32(dataType.bitWidth ?? 8)
        let unused: Int32 = mode == .symmetric ? 1 : 0
        return dataType.isSigned
            ? -count / 2 + unused...count / 2 - 1 : 0...count - 1 - unused
    }

    /// The range of each block, extended to include zero.
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

    /// The scale rounded to the package's precision and kept above zero; 1 for a block of zeros.
    private static func scale(_ value: Float, _ precision: MILDataType) -> Float {
        let rounded =
            precision == .float16
            ? HalfPrecision.floats(HalfPrecision.halfs([value]))[0] : value
        if rounded > 0 { return rounded }
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
        // Weights are within range, but weights adjusted by error feedback may not fit an Int32.
        let code = Int32(min(max(steps, -0x1p20), 0x1p20)) + (zeroPoints?[block] ?? 0)
        return min(max(code, range.lowerBound), range.upperBound)
    }

    func value(of code: Int32, block: Int) -> Float {
        scales[block] * Float(code - (zeroPoints?[block] ?? 0))
    }
}
