import RetintMIL
import RetintMLPackage

/// Weights as indices into a table: Gather, after a cast to the indices that it takes.
extension TranslatedOperation {
    /// `constexpr_lut_to_dense`
    func writePalette() throws {
        let table = try stored("lut")
        guard table.type.dataType.isFloat else {
            return try writeDense("weights with a quantized palette are written dense")
        }
        if table.type.rank == 1 { return try writePackedPalette(table) }
        let indices = try stored("indices")
        guard let shape = indices.type.shape, let groups = table.type.shape?.dropLast(2),
            let entries = table.type.shape?.dropLast().last, groups.count == shape.count,
            zip(shape, groups).allSatisfy({ $1 > 0 && $0.isMultiple(of: $1) })
        else { throw error("a palette of type \(table.type) does not fit \(indices.type)") }
        guard table.type.shape?.last == 1 else {
            return try writeDense("weights with vectors in a palette are written dense")
        }
        try writeLookUp(
            try indices.integers(), shape, bits: indices.type.dataType.bitWidth ?? 8,
            table.reshaped([groups.reduce(1, *), entries]), groups: Array(groups))
    }

    /// Before iOS18: one table, with indices packed into bytes.
    private func writePackedPalette(_ table: MILValue) throws {
        guard let shape = type.shape, let count = type.elementCount,
            let entries = table.type.elementCount, (1...256).contains(entries)
        else { throw error("a palette of type \(table.type) is not supported") }
        let bits = entries.trailingZeroBitCount
        let bytes = try stored("indices").bytes()
        guard entries == 1 << bits, bits > 0, bytes.count == (count * bits + 7) / 8 else {
            throw error("\(bytes.count) bytes of indices do not fit \(count) elements")
        }
        let indices = BitPacking.unpack(bytes, count: count, bits: bits, signed: false)
        try writeLookUp(
            indices, shape, bits: bits, table.reshaped([1, entries]),
            groups: shape.map { _ in 1 })
    }

    /// - Parameter table: the values, [tables, entries].
    private func writeLookUp(
        _ indices: [Int32], _ shape: [Int], bits: Int, _ table: MILValue, groups: [Int]
    ) throws {
        let entries = table.type.shape?.last ?? 0
        guard indices.allSatisfy({ (0..<Int32(entries)).contains($0) }) else {
            throw error("its indices do not fit a palette of \(entries)")
        }
        guard groups.contains(where: { $0 > 1 }) else {
            let positions = try positions(indices, shape, bits: bits)
            let values = try constant(table.reshaped([entries]), "palette")
            return result("Gather", [values, positions], ["axis": 0])
        }
        let last = groups.lastIndex { $0 > 1 } ?? 0
        guard Array(shape[..<last]) == Array(groups[..<last]) else {
            return try writeDense(
                "weights whose palettes are not for consecutive elements are written dense")
        }
        let tables = groups.reduce(1, *)
        let rows = [tables, indices.count / tables]
        let positions = try positions(indices, rows, bits: bits)
        let values = step(
            "GatherElements", [try constant(table, "palettes"), positions], ["axis": 1])
        result("Reshape", [values, try integers(shape, "shape")])
    }

    /// Indices of up to 4 bits as uint4, which came with opset 21, others as uint8.
    private func positions(_ indices: [Int32], _ shape: [Int], bits: Int) throws -> String {
        let isSmall = bits <= 4
        let isPacked =
            try isSmall && translation.has(opset: 21, for: "palettes of up to 4 bits", place)
        if isSmall, !isPacked {
            translation.note(
                "indices of \(bits) bits take 8, because uint4 needs opset 21", about: name)
        }
        let stored = MILValue.packed(indices, shape: shape, as: isPacked ? .uint4 : .uint8)
        return try cast(constant(stored, "indices"), to: .int32)
    }
}
