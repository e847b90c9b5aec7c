import RetintGraph
import RetintMLPackage
import RetintTensors

/// Palettized weights: indices into lookup tables.
extension RaisedOperation {
    /// `constexpr_lut_to_dense` before iOS18: one table, with indices packed into bytes.
    func packedLookUp() throws -> UnpackedWeights {
        let table = try weights("lut")
        let bits = table.scalars.count.trailingZeroBitCount
        guard table.scalars.count == 1 << bits, (1...8).contains(bits) else {
            throw error("a table of \(table.scalars.count) values is not supported")
        }
        let bytes = try stored("indices").bytes()
        let (shape, count) = try storedShape()
        guard bytes.count == (count * bits + 7) / 8 else {
            throw error("\(bytes.count) bytes of indices do not fit \(count) elements")
        }
        let indices = BitPacking.unpack(bytes, count: count, bits: bits, signed: false)
        return UnpackedWeights(
            dataType: table.dataType, shape: shape,
            scalars: indices.map { table.scalars[Int($0)] })
    }

    /// `constexpr_lut_to_dense` from iOS18 on: one table for each block of indices. Entries are
    /// scalars, or vectors that are laid out along an axis.
    func lookUp(_ indices: UnpackedWeights) throws -> UnpackedWeights {
        guard indices.dataType.isInteger, (indices.dataType.bitWidth ?? .max) <= 8 else {
            throw error("indices of type \(indices.dataType) are not supported")
        }
        let table = try table(for: indices.shape)
        var rows = indices.scalars.map { Int32($0) }
        guard rows.allSatisfy({ (0..<Int32(table.entries)).contains($0) }) else {
            throw error("its indices do not fit a table of \(table.entries)")
        }
        try Blocks(indices.shape, groups: table.groups, self).forEachRun { run, block in
            for index in run { rows[index] += Int32(block * table.entries) }
        }
        var shape = indices.shape
        if table.width > 1 { shape[table.axis] *= table.width }
        guard let count = Shape(shape).boundedCount else {
            throw error("the shape \(shape) is out of range")
        }
        let stored = indices.scalars.count * (indices.dataType.bitWidth ?? 8) / 8
        guard count <= max(Self.smallCount, Self.largestExpansion * stored) else {
            throw error(
                "\(stored) bytes of indices become \(count) elements",
                "Compress the weights with shorter vectors.")
        }
        let inner = indices.shape[(table.axis + 1)...].reduce(1, *)
        var scalars = [Float](repeating: 0, count: count)
        for (index, row) in rows.enumerated() {
            let start = (index / inner * table.width) * inner + index % inner
            for element in 0..<table.width {
                scalars[start + element * inner] = table.scalars[Int(row) * table.width + element]
            }
        }
        return UnpackedWeights(dataType: table.dataType, shape: shape, scalars: scalars)
    }

    /// The elements that vectors of any length may become, and those for each byte of indices:
    /// twice as many as with one bit each.
    private static let smallCount = 1 << 24
    private static let largestExpansion = 16

    /// `constexpr_lut_to_sparse`: returns the mask and the looked-up elements.
    func sparseLookUp() throws -> [UnpackedWeights] {
        var mask = try mask("indices_mask")
        let indices = try scattered(try weights("indices_nonzero_data"), mask)
        let table = try table(for: indices.shape)
        let dense = try lookUp(indices)
        if table.width > 1 { mask = mask.repeated(table.width, axis: table.axis) }
        return [mask, gathered(dense, mask)]
    }

    /// Lookup tables, [groups of each axis…, entries, width of an entry].
    private struct Table {
        let dataType: MILDataType
        let scalars: [Float]
        let groups: [Int]
        let entries: Int
        let width: Int
        /// The axis along which vector entries are laid out.
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
            dataType: lut.dataType, scalars: lut.scalars, groups: Array(lut.shape.dropLast(2)),
            entries: lut.shape[shape.count], width: width, axis: axis)
    }
}

extension UnpackedWeights {
    /// Repeats each element `count` times along an axis.
    fileprivate func repeated(_ count: Int, axis: Int) -> UnpackedWeights {
        let inner = shape[(axis + 1)...].reduce(1, *)
        var result = self
        result.shape[axis] *= count
        result.scalars = stride(from: 0, to: scalars.count, by: max(inner, 1)).flatMap { start in
            let row = scalars[start..<start + inner]
            return (0..<count).flatMap { _ in row }
        }
        return result
    }
}
