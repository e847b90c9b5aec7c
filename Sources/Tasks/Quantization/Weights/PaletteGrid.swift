import RetintMLPackage

/// Palettization: one lookup table per block; a code is an index into the table.
struct PaletteGrid: WeightGrid {
    let blocks: WeightBlocks
    let bits: Int
    /// The tables of all blocks, concatenated: 2^bits ascending values each.
    let tables: [Float]

    /// - Parameters:
    ///   - precision: the data type of the decompressed weight, and so of the tables.
    ///   - importance: the weight of each element's squared error; nil to weight them equally.
    ///   - kept: the elements that are not pruned, for which alone the tables are; nil for all.
    init(
        _ values: [Float], _ blocks: WeightBlocks, bits: Int,
        mode: QuantizationScheme.PaletteMode, precision: MILDataType, importance: [Float]? = nil,
        kept: [Bool]? = nil
    ) {
        (self.blocks, self.bits) = (blocks, bits)
        var members = [[Float]](repeating: [], count: blocks.count)
        var weights = [[Float]](repeating: [], count: blocks.count)
        blocks.forEachRun { run, block in
            for index in run where kept?[index] ?? true {
                members[block].append(values[index])
                if let importance { weights[block].append(importance[index]) }
            }
        }
        let tables = zip(members, weights).flatMap { members, weights in
            // Uniform tables of no values are zeros.
            mode == .uniform || members.isEmpty
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

    /// Finds the nearest table entry by binary search.
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
