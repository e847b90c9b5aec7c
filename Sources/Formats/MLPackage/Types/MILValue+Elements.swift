extension MILValue {
    /// The elements of a float16 or float32 value, from memory or from the weight file.
    package func floats() throws(MLPackageError) -> [Float] {
        switch content {
        case .floats(let values): return values
        case .halfs(let values): return HalfPrecision.floats(values)
        case .blob(let blob) where type.dataType == .float32:
            return LittleEndian.floats(try blob.bytes())
        case .blob(let blob) where type.dataType == .float16:
            return HalfPrecision.floats(LittleEndian.halfs(try blob.bytes()))
        default: throw mismatch("float16 or float32")
        }
    }

    /// The elements of an integer or bool value, unpacked.
    package func integers() throws(MLPackageError) -> [Int32] {
        switch content {
        case .integers(let values): return values
        case .bools(let values): return values.map { $0 ? 1 : 0 }
        case .longIntegers(let values):
            let small = values.compactMap { Int32(exactly: $0) }
            guard small.count == values.count else { throw mismatch("32-bit integers") }
            return small
        case .bytes(let bytes) where type.dataType.isInteger: return try integers(from: bytes)
        case .blob(let blob) where type.dataType.isInteger:
            return try integers(from: try blob.bytes())
        default: throw mismatch("integers")
        }
    }

    /// The elements as stored in the file: little-endian and packed.
    package func bytes() throws(MLPackageError) -> [UInt8] {
        switch content {
        case .floats(let values): return LittleEndian.bytes(values)
        case .halfs(let values): return LittleEndian.bytes(values)
        case .doubles(let values): return LittleEndian.bytes(values.map(\.bitPattern))
        case .longIntegers(let values): return LittleEndian.bytes(values)
        case .bytes(let bytes): return bytes
        case .bools(let values): return values.map { $0 ? 1 : 0 }
        case .blob(let blob): return try blob.bytes()
        case .integers(let values):
            return type.dataType.bitWidth == 16
                ? LittleEndian.bytes(values.map { UInt16(truncatingIfNeeded: $0) })
                : LittleEndian.bytes(values)
        case .strings: throw mismatch("numbers")
        }
    }

    /// The elements of a string value.
    package func strings() throws(MLPackageError) -> [String] {
        guard case .strings(let values) = content else { throw mismatch("strings") }
        return values
    }

    /// The elements of a bool value.
    package func bools() throws(MLPackageError) -> [Bool] {
        guard case .bools(let values) = content else { throw mismatch("bools") }
        return values
    }

    /// The same value with its elements in memory.
    package func loaded() throws(MLPackageError) -> MILValue {
        guard case .blob(let blob) = content else { return self }
        return MILValue(type: type, content: Self.content(type.dataType, try blob.bytes()))
    }

    /// The content of elements stored as bytes.
    package static func content(_ dataType: MILDataType, _ bytes: [UInt8]) -> Content {
        switch dataType {
        case .float32: .floats(LittleEndian.floats(bytes))
        case .float16: .halfs(LittleEndian.halfs(bytes))
        case .int16: .integers(LittleEndian.halfs(bytes).map { Int32(Int16(bitPattern: $0)) })
        case .uint16: .integers(LittleEndian.halfs(bytes).map { Int32($0) })
        case .int32: .integers(LittleEndian.words(bytes).map { Int32(bitPattern: $0) })
        default: .bytes(bytes)
        }
    }

    private func integers(from bytes: [UInt8]) throws(MLPackageError) -> [Int32] {
        switch type.dataType {
        case .int8: return bytes.map { Int32(Int8(bitPattern: $0)) }
        case .uint8: return bytes.map { Int32($0) }
        case .int16: return LittleEndian.halfs(bytes).map { Int32(Int16(bitPattern: $0)) }
        case .uint16: return LittleEndian.halfs(bytes).map { Int32($0) }
        case .int32: return LittleEndian.words(bytes).map { Int32(bitPattern: $0) }
        case .uint32:
            let words = LittleEndian.words(bytes)
            guard words.allSatisfy({ $0 <= Int32.max }) else {
                throw mismatch("numbers up to \(Int32.max)")
            }
            return words.map { Int32($0) }
        default:
            return BitPacking.unpack(
                bytes, count: type.elementCount ?? 0, bits: type.dataType.bitWidth ?? 8,
                signed: type.dataType.isSigned)
        }
    }

    private func mismatch(_ wanted: String) -> MLPackageError {
        var file = ""
        if case .blob(let blob) = content { file = blob.path }
        return MLPackageError(
            file: file, place: "a value of type \(type)", rule: "\(wanted) are needed here",
            remedy: "Give the operation a constant of the type that it takes.")
    }
}
