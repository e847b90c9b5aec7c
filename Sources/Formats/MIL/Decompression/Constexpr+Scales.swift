import RetintMLPackage

/// Integer weights with scales and zero points.
extension RaisedOperation {
    /// `constexpr_affine_dequantize`: w = scale·(q − zero point), per tensor or along one axis.
    func affine() throws -> UnpackedWeights {
        var weights = try weights("quantized_data")
        let scale = try self.weights("scale")
        let zeros = try self.weights("zero_point").scalars
        let shape = weights.shape
        let axis = try axes(try stored("axis").integers().map(Int.init), rank: shape.count)
        guard let axis = axis.first else {
            throw error("its parameter axis has to be a single integer")
        }
        let fits = { (count: Int) in count == 1 || count == shape[axis] }
        guard fits(scale.scalars.count), fits(zeros.count) else {
            throw error("\(scale.scalars.count) scales do not fit axis \(axis) of \(shape)")
        }
        let groups = shape.indices.map { $0 == axis ? shape[axis] : 1 }
        try Blocks(shape, groups: groups, self).forEachRun { run, channel in
            let factor = scale.scalars[scale.scalars.count == 1 ? 0 : channel]
            let zero = zeros[zeros.count == 1 ? 0 : channel]
            for index in run { weights.scalars[index] = factor * (weights.scalars[index] - zero) }
        }
        weights.dataType = scale.dataType
        return weights
    }

    /// `constexpr_blockwise_shift_scale`: w = scale[block]·(q − offset[block]), with blocks along
    /// any axis.
    func shiftScale(_ data: UnpackedWeights) throws -> UnpackedWeights {
        var weights = data
        let scale = try self.weights("scale")
        let offset = try optionallyStored("offset").map { try self.weights($0) }
        guard offset.map({ $0.shape == scale.shape }) ?? true else {
            throw error("offsets \(offset?.shape ?? []) do not fit scales \(scale.shape)")
        }
        try Blocks(data.shape, groups: scale.shape, self).forEachRun { run, block in
            let (factor, zero) = (scale.scalars[block], offset?.scalars[block] ?? 0)
            for index in run { weights.scalars[index] = factor * (weights.scalars[index] - zero) }
        }
        weights.dataType = scale.dataType
        return weights
    }

    /// `constexpr_sparse_blockwise_shift_scale`: returns the mask and the dequantized
    /// nonzero elements.
    func sparseShiftScale() throws -> [UnpackedWeights] {
        let mask = try mask("data_mask")
        let dense = try scattered(try weights("nonzero_data"), mask)
        return [mask, gathered(try shiftScale(dense), mask)]
    }
}

/// A tensor divided into blocks: each axis is split into equal runs.
struct Blocks {
    /// For each axis: stride in elements, extent, block length, and stride in blocks.
    private var steps: [(inner: Int, extent: Int, run: Int, stride: Int)] = []
    private let count: Int
    /// The number of consecutive elements that always share a block.
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

    /// Calls `body` with each run of consecutive elements in one block, and the block's index.
    func forEachRun(_ body: (Range<Int>, Int) -> Void) {
        for start in Swift.stride(from: 0, to: count, by: max(runLength, 1)) {
            body(start..<start + runLength, block(of: start))
        }
    }

    private func block(of index: Int) -> Int {
        steps.reduce(0) { $0 + index / $1.inner % $1.extent / $1.run * $1.stride }
    }
}
