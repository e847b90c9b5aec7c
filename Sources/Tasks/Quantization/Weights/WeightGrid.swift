/// The values that a compressed weight can take, and the codes that represent them: by a scale and
/// zero point, or by a lookup table, for each block.
protocol WeightGrid {
    var blocks: WeightBlocks { get }

    /// The code of the nearest representable value.
    func code(nearest value: Float, block: Int) -> Int32

    /// The value that a code represents.
    func value(of code: Int32, block: Int) -> Float
}

extension WeightGrid {
    /// The code of the nearest representable value for each element.
    func codes(_ values: [Float]) -> [Int32] {
        var codes = [Int32](repeating: 0, count: values.count)
        blocks.forEachRun { run, block in
            for index in run { codes[index] = code(nearest: values[index], block: block) }
        }
        return codes
    }

    /// The value that each code represents.
    func values(_ codes: [Int32]) -> [Float] {
        var values = [Float](repeating: 0, count: codes.count)
        blocks.forEachRun { run, block in
            for index in run { values[index] = value(of: codes[index], block: block) }
        }
        return values
    }
}
