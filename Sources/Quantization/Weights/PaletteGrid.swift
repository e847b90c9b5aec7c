import MLPackage

/// Tables of numbers, one a block; codes are places in them.
struct PaletteGrid: WeightGrid {
    let blocks: WeightBlocks
    let bits: Int
    /// The tables one after another, 2^bits numbers each, ascending.
    let tables: [Float]

    /// - Parameters:
    ///   - precision: of the unpacked weights, and so of the tables.
    ///   - importance: how much the squared error of each number counts; alike if nil.
    init(
        _ values: [Float], _ blocks: WeightBlocks, bits: Int,
        mode: QuantizationScheme.PaletteMode, precision: MILDataType, importance: [Float]? = nil
    ) {
        (self.blocks, self.bits) = (blocks, bits)
        var members = [[Float]](repeating: [], count: blocks.count)
        var weights = [[Float]](repeating: [], count: blocks.count)
        blocks.forEachRun { run, block in
            members[block] += values[run]
            if let importance { weights[block] += importance[run] }
        }
        let tables = zip(members, weights).flatMap { members, weights in
            mode == .uniform
                ? Self.uniform(members, 1 << bits)
                : OptimalClusters(members, weights: importance.map { _ in weights })
                    .centers(1 << bits)
        }
        self.tables =
            precision == .float16 ? HalfPrecision.floats(HalfPrecision.halfs(tables)) : tables
    }

    private static func uniform(_ values: [Float], _ entries: Int) -> [Float] {
        let (low, high) = (values.min() ?? 0, values.max() ?? 0)
        let step = (high - low) / Float(entries - 1)
        return (0..<entries).map { low + Float($0) * step }
    }

    func code(nearest value: Float, block: Int) -> Int32 {
        let first = block << bits
        var (low, high) = (first, first + 1 << bits - 1)
        while low < high {
            let middle = (low + high) / 2
            if value - tables[middle] > tables[middle + 1] - value {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return Int32(low - first)
    }

    func value(of code: Int32, block: Int) -> Float { tables[block << bits + Int(code)] }
}
