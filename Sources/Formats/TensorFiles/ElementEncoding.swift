/// Encodes the elements of a tensor as the bytes of a file; files and machine are little-endian.
struct ElementEncoding {
    let type: StoredType

    typealias Body = (UnsafeRawBufferPointer) throws(TensorFileError) -> Void

    /// Calls `body` with the bytes of the elements for the file.
    func withBytes(
        of elements: StoredTensor.Elements, at place: FilePlace, _ body: Body
    ) throws(TensorFileError) {
        switch elements {
        case .float32(let values): try withBytes(of: values, body)
        case .int64(let values): try withBytes(of: values, place, body)
        }
    }

    private func withBytes(of floats: [Float], _ body: Body) throws(TensorFileError) {
        switch type {
        case .float16: try floats.map { Float16($0).bitPattern }.withBytes(body)
        case .bfloat16: try floats.map(\.bfloat16Bits).withBytes(body)
        case .float64: try floats.map(Double.init).withBytes(body)
        default: try floats.withBytes(body)
        }
    }

    private func withBytes(
        of integers: [Int64], _ place: FilePlace, _ body: Body
    ) throws(TensorFileError) {
        switch type {
        case .int8: try narrowed(integers, Int8.self, place).withBytes(body)
        case .int16: try narrowed(integers, Int16.self, place).withBytes(body)
        case .int32: try narrowed(integers, Int32.self, place).withBytes(body)
        case .uint8: try narrowed(integers, UInt8.self, place).withBytes(body)
        case .uint16: try narrowed(integers, UInt16.self, place).withBytes(body)
        case .uint32: try narrowed(integers, UInt32.self, place).withBytes(body)
        case .uint64: try narrowed(integers, UInt64.self, place).withBytes(body)
        default: try integers.withBytes(body)
        }
    }

    private func narrowed<Value: FixedWidthInteger>(
        _ integers: [Int64], _: Value.Type, _ place: FilePlace
    ) throws(TensorFileError) -> [Value] {
        try integers.map { (integer) throws(TensorFileError) in
            guard let value = Value(exactly: integer) else {
                throw place.error(.unwritable, "contains \(integer), which does not fit \(type)")
            }
            return value
        }
    }
}

extension StoredTensor.Elements {
    /// The elements' little-endian bytes, `type.byteCount` for each.
    ///
    /// - Throws: ``TensorFileError`` for an integer that does not fit the type.
    package func littleEndianBytes(
        as type: StoredType, name: String
    ) throws(TensorFileError) -> [UInt8] {
        var result: [UInt8] = []
        try ElementEncoding(type: type).withBytes(of: self, at: FilePlace("", name)) {
            (bytes) throws(TensorFileError) in
            result = [UInt8](bytes)
        }
        return result
    }
}

extension Float {
    /// The bfloat16 bit pattern: the upper half of the bits, rounded to nearest, ties to even.
    var bfloat16Bits: UInt16 {
        // A NaN with bits only in the lower half would round to infinity.
        guard !isNaN else { return UInt16(bitPattern >> 16) | 0x40 }
        return UInt16((bitPattern + 0x7fff + (bitPattern >> 16) & 1) >> 16)
    }
}

extension Array where Element: BitwiseCopyable {
    /// Calls `body` with the elements' bytes in memory.
    func withBytes(_ body: ElementEncoding.Body) throws(TensorFileError) {
        var failure: TensorFileError?
        withUnsafeBytes { bytes in
            do throws(TensorFileError) { try body(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
