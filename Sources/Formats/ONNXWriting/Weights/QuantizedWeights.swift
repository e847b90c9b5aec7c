import RetintMIL
import RetintMLPackage

/// Integer weights with scales: DequantizeLinear.
extension TranslatedOperation {
    /// `constexpr_affine_dequantize`
    func writeAffine() throws {
        let data = try stored("quantized_data")
        let scale = try stored("scale")
        let rank = data.type.rank
        guard [.int8, .uint8].contains(data.type.dataType), scale.type.dataType.isFloat else {
            throw error("\(data.type) with scales of type \(scale.type) is not supported")
        }
        let grid = try QuantizationGrid(
            scale: scale, zeroPoint: stored("zero_point"), data.type.dataType, self)
        guard grid.count > 1 else { return try writeDequantized(data, grid) }
        let axis = try axes(try stored("axis").integers().map(Int.init), rank: rank).first ?? 0
        guard grid.count == data.type.shape?[axis] else {
            throw error("\(grid.count) scales do not fit axis \(axis) of \(data.type)")
        }
        try writeDequantized(data, grid, axis: axis)
    }

    /// `constexpr_blockwise_shift_scale`
    func writeShiftScale() throws {
        let data = try stored("data")
        let scale = try stored("scale")
        guard let shape = data.type.shape, let groups = scale.type.shape,
            groups.count == shape.count, scale.type.dataType.isFloat,
            zip(shape, groups).allSatisfy({ $1 > 0 && $0.isMultiple(of: $1) })
        else { throw error("scales of type \(scale.type) do not fit \(data.type)") }
        guard [.int4, .uint4, .int8, .uint8].contains(data.type.dataType) else {
            return try writeDense("weights of \(data.type.dataType) with scales are written dense")
        }
        if data.type.dataType.isPacked { try require(opset: 21, for: "weights of 4 bits") }
        let offset = try optionallyStored("offset")
        let grid = try QuantizationGrid(
            scale: scale, zeroPoint: offset, data.type.dataType, self)
        let split = groups.indices.filter { groups[$0] > 1 }
        if split.isEmpty {
            try writeDequantized(data, grid)
        } else if split.count == 1, groups[split[0]] == shape[split[0]] {
            try writeDequantized(data, grid.reshaped([grid.count]), axis: split[0])
        } else {
            try writeBlocks(data, grid, shape, groups)
        }
    }

    /// Scales for blocks along one axis, the only form in ONNX. Everything after the last axis with
    /// several scales becomes part of that axis; otherwise, scales are repeated.
    private func writeBlocks(
        _ data: MILValue, _ grid: QuantizationGrid, _ shape: [Int], _ groups: [Int]
    ) throws {
        try require(opset: 21, for: "scales for blocks")
        let last = groups.lastIndex { $0 > 1 } ?? 0
        let inner = shape[(last + 1)...].reduce(1, *)
        guard Array(shape[..<last]) == Array(groups[..<last]) else {
            let axis = groups.indices.first { groups[$0] > 1 && groups[$0] < shape[$0] } ?? last
            var repeated = shape
            repeated[axis] = groups[axis]
            return try writeDequantized(
                data, grid.repeated(to: repeated), axis: axis, block: shape[axis] / groups[axis])
        }
        let block = shape[last] / groups[last] * inner
        guard inner > 1 else {
            return try writeDequantized(data, grid, axis: last, block: block)
        }
        let rows = Array(shape[..<last]) + [shape[last] * inner]
        try writeDequantized(
            data.reshaped(rows), grid.reshaped(Array(groups[...last])), axis: last, block: block,
            shape: shape)
    }

    /// - Parameters:
    ///   - axis: the axis of the scales, if there are several.
    ///   - block: the number of elements along that axis that share a scale; nil for one.
    ///   - shape: the shape of the weight, if it is not that of the data.
    private func writeDequantized(
        _ data: MILValue, _ grid: QuantizationGrid, axis: Int? = nil, block: Int? = nil,
        shape: [Int]? = nil
    ) throws {
        var attributes: Attributes = [:]
        if let axis {
            try require(opset: 13, for: "scales per channel")
            attributes.add("axis", .int(axis))
        }
        if let block { attributes.add("block_size", .int(block)) }
        let inputs = [try constant(data, "quantized")] + (try grid.inputs(self))
        let isCast = grid.scale.type.dataType == .float16 && opset < 19
        guard isCast || shape != nil else {
            return result("DequantizeLinear", inputs, attributes)
        }
        let values = step("DequantizeLinear", inputs, attributes)
        guard let shape else {
            return result("Cast", [values], ["to": try Self.target(.float16, self)])
        }
        result("Reshape", [values, try integers(shape, "shape")])
    }
}
