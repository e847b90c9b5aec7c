import MLPackage
import TensorGraph

/// Places in tables.
extension RaisedOperation {
    /// `constexpr_lut_to_dense` before iOS18: one table for all, places packed in bytes.
    func packedLookUp() throws -> UnpackedWeights {
        let table = try weights("lut")
        let bits = table.numbers.count.trailingZeroBitCount
        guard table.numbers.count == 1 << bits, (1...8).contains(bits) else {
            throw error("a table of \(table.numbers.count) numbers is not supported")
        }
        let bytes = try stored("indices").bytes()
        let (shape, count) = try storedShape()
        guard bytes.count == (count * bits + 7) / 8 else {
            throw error("\(bytes.count) bytes of indices do not fit \(count) elements")
        }
        let places = BitPacking.unpack(bytes, count: count, bits: bits, signed: false)
        return UnpackedWeights(
            dataType: table.dataType, shape: shape,
            numbers: places.map { table.numbers[Int($0)] })
    }

    /// `constexpr_lut_to_dense` from iOS18 on: a table for each block of places, and in a table
    /// numbers or vectors that are laid out along an axis.
    func lookUp(_ places: UnpackedWeights) throws -> UnpackedWeights {
        guard places.dataType.isInteger, (places.dataType.bitWidth ?? .max) <= 8 else {
            throw error("indices of type \(places.dataType) are not supported")
        }
        let table = try table(for: places.shape)
        var rows = places.numbers.map { Int32($0) }
        guard rows.allSatisfy({ (0..<Int32(table.entries)).contains($0) }) else {
            throw error("its indices do not fit a table of \(table.entries)")
        }
        try Blocks(places.shape, groups: table.groups, self).forEachRun { run, block in
            for index in run { rows[index] += Int32(block * table.entries) }
        }
        var shape = places.shape
        if table.width > 1 { shape[table.axis] *= table.width }
        guard let count = Shape(shape).boundedCount else {
            throw error("the shape \(shape) is out of range")
        }
        let inner = places.shape[(table.axis + 1)...].reduce(1, *)
        var numbers = [Float](repeating: 0, count: count)
        for (index, row) in rows.enumerated() {
            let start = (index / inner * table.width) * inner + index % inner
            for element in 0..<table.width {
                numbers[start + element * inner] = table.numbers[Int(row) * table.width + element]
            }
        }
        return UnpackedWeights(dataType: table.dataType, shape: shape, numbers: numbers)
    }

    /// `constexpr_lut_to_sparse`: the mask, and what the places under it mean.
    func sparseLookUp() throws -> [UnpackedWeights] {
        var mask = try mask("indices_mask")
        let places = try scattered(try weights("indices_nonzero_data"), mask)
        let table = try table(for: places.shape)
        let dense = try lookUp(places)
        if table.width > 1 { mask = mask.repeated(table.width, axis: table.axis) }
        return [mask, gathered(dense, mask)]
    }

    /// Tables: [groups of each axis…, entries, width of an entry].
    private struct Table {
        let dataType: MILDataType
        let numbers: [Float]
        let groups: [Int]
        let entries: Int
        let width: Int
        /// Along which entries are laid out.
        let axis: Int
    }

    private func table(for shape: [Int]) throws -> Table {
        let lut = try weights("lut")
        guard !shape.isEmpty, lut.shape.count == shape.count + 2, let width = lut.shape.last,
            width <= 1 << 10, let count = Shape(lut.shape).boundedCount, count <= Int32.max
        else { throw error("a table of shape \(lut.shape) is not supported") }
        let given = try optionallyStored("vector_axis")?.integers().map(Int.init)
        guard width == 1 || given?.count == 1 else {
            throw error("vectors in a table need one vector_axis")
        }
        let axis = width == 1 ? shape.count - 1 : try axes(given ?? [], rank: shape.count)[0]
        return Table(
            dataType: lut.dataType, numbers: lut.numbers, groups: Array(lut.shape.dropLast(2)),
            entries: lut.shape[shape.count], width: width, axis: axis)
    }
}

extension UnpackedWeights {
    /// Each element `count` times along an axis.
    fileprivate func repeated(_ count: Int, axis: Int) -> UnpackedWeights {
        let inner = shape[(axis + 1)...].reduce(1, *)
        var result = self
        result.shape[axis] *= count
        result.numbers = stride(from: 0, to: numbers.count, by: max(inner, 1)).flatMap { start in
            let row = numbers[start..<start + inner]
            return (0..<count).flatMap { _ in row }
        }
        return result
    }
}
