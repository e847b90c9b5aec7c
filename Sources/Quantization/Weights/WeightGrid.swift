/// The numbers that a weight can have after it has been made smaller, and the codes they are
/// stored by: scales and zero points, or tables, one for each block.
protocol WeightGrid {
    var blocks: WeightBlocks { get }

    /// The code of the number that is nearest.
    func code(nearest value: Float, block: Int) -> Int32

    /// The number that a code stands for.
    func value(of code: Int32, block: Int) -> Float
}

extension WeightGrid {
    /// The codes of the nearest numbers.
    func codes(_ values: [Float]) -> [Int32] {
        var codes = [Int32](repeating: 0, count: values.count)
        blocks.forEachRun { run, block in
            for index in run { codes[index] = code(nearest: values[index], block: block) }
        }
        return codes
    }

    /// The numbers that codes stand for.
    func values(_ codes: [Int32]) -> [Float] {
        var values = [Float](repeating: 0, count: codes.count)
        blocks.forEachRun { run, block in
            for index in run { values[index] = value(of: codes[index], block: block) }
        }
        return values
    }
}
