import MLPackage

/// Whole numbers with scales and zero points.
extension RaisedOperation {
    /// `constexpr_affine_dequantize`: w = scale·(q − zero point), vectors along one axis.
    func affine() throws -> UnpackedWeights {
        var weights = try weights("quantized_data")
        let scale = try self.weights("scale")
        let zeros = try self.weights("zero_point").numbers
        let shape = weights.shape
        let axis = try axes(try stored("axis").integers().map(Int.init), rank: shape.count)
        guard let axis = axis.first else { throw error("its parameter axis is one number") }
        let fits = { (count: Int) in count == 1 || count == shape[axis] }
        guard fits(scale.numbers.count), fits(zeros.count) else {
            throw error("\(scale.numbers.count) scales do not fit axis \(axis) of \(shape)")
        }
        let groups = shape.indices.map { $0 == axis ? shape[axis] : 1 }
        try Blocks(shape, groups: groups, self).forEachRun { run, channel in
            let factor = scale.numbers[scale.numbers.count == 1 ? 0 : channel]
            let zero = zeros[zeros.count == 1 ? 0 : channel]
            for index in run { weights.numbers[index] = factor * (weights.numbers[index] - zero) }
        }
        weights.dataType = scale.dataType
        return weights
    }

    /// `constexpr_blockwise_shift_scale`: w = scale[block]·(q − offset[block]), blocks along any
    /// axes.
    func shiftScale(_ data: UnpackedWeights) throws -> UnpackedWeights {
        var weights = data
        let scale = try self.weights("scale")
        let offset = try optionallyStored("offset").map { try self.weights($0) }
        guard offset.map({ $0.shape == scale.shape }) ?? true else {
            throw error("offsets \(offset?.shape ?? []) do not fit scales \(scale.shape)")
        }
        try Blocks(data.shape, groups: scale.shape, self).forEachRun { run, block in
            let (factor, zero) = (scale.numbers[block], offset?.numbers[block] ?? 0)
            for index in run { weights.numbers[index] = factor * (weights.numbers[index] - zero) }
        }
        weights.dataType = scale.dataType
        return weights
    }

    /// `constexpr_sparse_blockwise_shift_scale`: the mask, and the same for the elements under it.
    func sparseShiftScale() throws -> [UnpackedWeights] {
        let mask = try mask("data_mask")
        let dense = try scattered(try weights("nonzero_data"), mask)
        return [mask, gathered(try shiftScale(dense), mask)]
    }
}

/// A tensor in blocks: each axis is divided into equal runs.
struct Blocks {
    /// For each axis: elements behind one step, extent, run, blocks behind one step.
    private var steps: [(inner: Int, extent: Int, run: Int, stride: Int)] = []
    private let count: Int
    /// How many elements in a row are surely in one block.
    private var runLength = 1

    init(_ shape: [Int], groups: [Int], _ operation: RaisedOperation) throws {
        guard groups.count == shape.count,
            zip(shape, groups).allSatisfy({ $1 > 0 && $0 % $1 == 0 })
        else { throw operation.error("groups \(groups) do not divide the shape \(shape)") }
        count = shape.reduce(1, *)
        var (inner, stride) = (1, 1)
        for axis in shape.indices.reversed() {
            let run = shape[axis] / groups[axis]
            steps.append((inner, shape[axis], run, stride))
            if stride == 1 { runLength = inner * run }
            inner *= shape[axis]
            stride *= groups[axis]
        }
    }

    /// Calls `body` with each run of elements in a row that are in one block, and the block.
    func forEachRun(_ body: (Range<Int>, Int) -> Void) {
        for start in Swift.stride(from: 0, to: count, by: max(runLength, 1)) {
            body(start..<start + runLength, block(of: start))
        }
    }

    private func block(of index: Int) -> Int {
        steps.reduce(0) { $0 + index / $1.inner % $1.extent / $1.run * $1.stride }
    }
}
