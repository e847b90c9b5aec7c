import MLPackage

/// A weight on its way to fewer bits.
struct WeightCompression {
    let values: [Float]
    let blocks: WeightBlocks
    let axes: (output: Int, input: Int)
    /// Of the unpacked weights.
    let precision: MILDataType
    /// What the weight is multiplied by; nil to treat all numbers alike.
    let inputs: WeightInputs?

    func compressed(_ scheme: QuantizationScheme) -> CompressedWeight {
        let kept = scheme.isSparse ? kept(scheme) : nil
        switch scheme.weights {
        case .unchanged:
            let values = rounded(kept) { value, _, _ in value }
            return CompressedWeight(numbers: .unchanged(values), kept: kept)
        case .float16:
            return CompressedWeight(numbers: .half(values))
        case .palette(let bits):
            let grid = PaletteGrid(
                values, blocks, bits: bits, mode: scheme.paletteMode, precision: precision,
                importance: inputs?.importance(count: values.count))
            let preservesMeans = inputs == nil && scheme.paletteMode == .kmeans && kept == nil
            let chosen =
                preservesMeans
                ? MeanPreservation(grid: grid, axis: axes.output).codes(values)
                : codes(on: grid, kept)
            return CompressedWeight(numbers: .palette(grid, chosen), kept: kept)
        default:
            let grid = affineGrid(scheme)
            return CompressedWeight(numbers: .affine(grid, codes(on: grid, kept)), kept: kept)
        }
    }

    private func codes(on grid: some WeightGrid, _ kept: [Bool]?) -> [Int32] {
        guard inputs != nil else { return grid.codes(values) }
        return grid.codes(
            rounded(kept) { value, _, block in
                grid.value(of: grid.code(nearest: value, block: block), block: block)
            })
    }

    /// The weight with its numbers replaced, each error made good as far as may be by those that
    /// come after it.
    private func rounded(
        _ kept: [Bool]?, _ replacement: (Float, _ index: Int, _ block: Int) -> Float
    ) -> [Float] {
        guard let inputs else { return values }
        let places = blocks.blockOfEach
        return inputs.rounding(values) { value, index in
            kept.map { $0[index] } ?? true ? replacement(value, index, places[index]) : 0
        }
    }

    /// The numbers that matter the most: by their own size, or by what they do to the output.
    private func kept(_ scheme: QuantizationScheme) -> [Bool] {
        let importance = inputs?.importance(count: values.count)
        let scores = values.indices.map { values[$0] * values[$0] * (importance?[$0] ?? 1) }
        return Pruning(shape: blocks.shape, axes: axes, scores: scores).kept(scheme)
    }

    // MARK: Scales

    private func affineGrid(_ scheme: QuantizationScheme) -> AffineGrid {
        func grid(_ shrinking: [Float]?) -> AffineGrid {
            AffineGrid(
                values, blocks, as: scheme.weights.dataType, mode: scheme.mode,
                precision: precision, shrinking: shrinking)
        }
        guard let importance = inputs?.importance(count: values.count) else { return grid(nil) }
        var best = [Double](repeating: .infinity, count: blocks.count)
        var shrinking = [Float](repeating: 1, count: blocks.count)
        for factor in stride(from: Float(1), through: 0.4, by: -0.04) {
            let all = [Float](repeating: factor, count: blocks.count)
            let errors = grid(all).errors(values, importance)
            for block in errors.indices where errors[block] < best[block] {
                (best[block], shrinking[block]) = (errors[block], factor)
            }
        }
        return grid(shrinking)
    }
}

extension WeightGrid {
    /// The squared error of the nearest numbers, block by block.
    fileprivate func errors(_ values: [Float], _ importance: [Float]) -> [Double] {
        var errors = [Double](repeating: 0, count: blocks.count)
        blocks.forEachRun { run, block in
            var sum: Float = 0
            for index in run {
                let rounded = value(of: code(nearest: values[index], block: block), block: block)
                sum += importance[index] * (values[index] - rounded) * (values[index] - rounded)
            }
            errors[block] += Double(sum)
        }
        return errors
    }
}

extension WeightBlocks {
    /// The block of each element.
    var blockOfEach: [Int] {
        var result = [Int](repeating: 0, count: shape.reduce(1, *))
        forEachRun { run, block in
            for index in run { result[index] = block }
        }
        return result
    }
}
