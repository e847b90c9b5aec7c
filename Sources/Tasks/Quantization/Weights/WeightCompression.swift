import RetintMLPackage

/// Compresses a weight by a scheme.
struct WeightCompression {
    let values: [Float]
    let blocks: WeightBlocks
    let axes: (output: Int, input: Int)
    /// The data type of the decompressed weight.
    let precision: MILDataType
    /// The observed inputs of the weight; nil without calibration: all elements have equal weight.
    let inputs: WeightInputs?
    /// Lower bounds of the blocks' scales; nil for none.
    var leastScales: [Float]?

    func compressed(_ scheme: QuantizationScheme) -> CompressedWeight {
        let kept = scheme.isSparse ? kept(scheme) : nil
        switch scheme.weights {
        case .unchanged:
            let values = rounded(kept) { value, _, _ in value }
            return CompressedWeight(storage: .unchanged(values), kept: kept)
        case .float16:
            return CompressedWeight(storage: .half(values))
        case .palette(let bits):
            let grid = PaletteGrid(
                values, blocks, bits: bits, mode: scheme.paletteMode, precision: precision,
                importance: inputs?.importance(count: values.count), kept: kept)
            let preservesMeans = inputs == nil && scheme.paletteMode == .kmeans && kept == nil
            let chosen =
                preservesMeans
                ? MeanPreservation(grid: grid, axis: axes.output).codes(values)
                : codes(on: grid, kept)
            return CompressedWeight(storage: .palette(grid, chosen), kept: kept)
        default:
            let grid = affineGrid(scheme)
            return CompressedWeight(storage: .affine(grid, codes(on: grid, kept)), kept: kept)
        }
    }

    private func codes(on grid: some WeightGrid, _ kept: [Bool]?) -> [Int32] {
        guard inputs != nil else { return grid.codes(values) }
        return grid.codes(
            rounded(kept) { value, _, block in
                grid.value(of: grid.code(nearest: value, block: block), block: block)
            })
    }

    /// The weight with its elements replaced, and pruned ones set to zero. With calibration, later
    /// elements compensate the error of earlier ones.
    private func rounded(
        _ kept: [Bool]?, _ replacement: (Float, _ index: Int, _ block: Int) -> Float
    ) -> [Float] {
        guard let inputs else { return values }
        let blockIndices = blocks.blockOfEachElement
        return inputs.rounding(values) { value, index in
            kept.map { $0[index] } ?? true ? replacement(value, index, blockIndices[index]) : 0
        }
    }

    /// Whether to keep each element, by magnitude or, with calibration, by its effect on the
    /// output.
    private func kept(_ scheme: QuantizationScheme) -> [Bool] {
        let importance = inputs?.importance(count: values.count)
        let scores = values.indices.map { values[$0] * values[$0] * (importance?[$0] ?? 1) }
        return Pruning(shape: blocks.shape, axes: axes, scores: scores).kept(scheme)
    }

    // MARK: Scales

    /// The scales and zero points. With calibration, the range of each block is shrunk by the
    /// factor in 0.4…1 that has the least weighted error.
    private func affineGrid(_ scheme: QuantizationScheme) -> AffineGrid {
        func grid(_ shrinking: [Float]?) -> AffineGrid {
            AffineGrid(
                values, blocks, as: scheme.weights.dataType, mode: scheme.mode,
                precision: precision, leastScales: leastScales, shrinking: shrinking)
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
    /// The weighted squared rounding error of each block.
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
    /// The block index of each element.
    var blockOfEachElement: [Int] {
        var result = [Int](repeating: 0, count: shape.reduce(1, *))
        forEachRun { run, block in
            for index in run { result[index] = block }
        }
        return result
    }
}
