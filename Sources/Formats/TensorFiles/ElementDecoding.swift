/// Decodes the bytes of a tensor's elements.
struct ElementDecoding {
    let type: StoredType
    var isBigEndian = false

    typealias Fill = (UnsafeMutableRawBufferPointer) throws(TensorFileError) -> Void

    /// Reads elements as floats or as 64-bit integers.
    ///
    /// - Parameter fill: Writes the bytes of the elements as in the file.
    func read(
        count: Int, at place: FilePlace, _ fill: Fill
    ) throws(TensorFileError) -> StoredTensor.Elements {
        switch type {
        case .float32: .float32(try float32(count, fill))
        case .float16: .float32(try raw(UInt16.self, count, fill).map(Float.init(halfBits:)))
        case .bfloat16:
            .float32(try raw(UInt16.self, count, fill).map { Float(bitPattern: UInt32($0) << 16) })
        case .float64:
            .float32(try raw(UInt64.self, count, fill).map { Float(Double(bitPattern: $0)) })
        case .int8: .int64(try raw(Int8.self, count, fill).map(Int64.init))
        case .int16: .int64(try raw(Int16.self, count, fill).map(Int64.init))
        case .int32: .int64(try raw(Int32.self, count, fill).map(Int64.init))
        case .int64: .int64(try raw(Int64.self, count, fill))
        case .uint8: .int64(try raw(UInt8.self, count, fill).map(Int64.init))
        case .uint16: .int64(try raw(UInt16.self, count, fill).map(Int64.init))
        case .uint32: .int64(try raw(UInt32.self, count, fill).map(Int64.init))
        case .uint64: .int64(try narrowed(raw(UInt64.self, count, fill), place))
        }
    }

    /// Reads elements of one byte as they are.
    func bytes(count: Int, _ fill: Fill) throws(TensorFileError) -> [UInt8] {
        try uninitialized(count, fill)
    }

    private func float32(_ count: Int, _ fill: Fill) throws(TensorFileError) -> [Float] {
        guard isBigEndian else { return try uninitialized(count, fill) }
        return try raw(UInt32.self, count, fill).map(Float.init(bitPattern:))
    }

    private func raw<Value: FixedWidthInteger & BitwiseCopyable>(
        _: Value.Type, _ count: Int, _ fill: Fill
    ) throws(TensorFileError) -> [Value] {
        var values: [Value] = try uninitialized(count, fill)
        guard isBigEndian else { return values }
        for index in values.indices { values[index] = Value(bigEndian: values[index]) }
        return values
    }

    /// An array whose bytes `fill` writes, without initializing them first.
    private func uninitialized<Value: BitwiseCopyable>(
        _ count: Int, _ fill: Fill
    ) throws(TensorFileError) -> [Value] {
        var failure: TensorFileError?
        let values = [Value](unsafeUninitializedCapacity: count) { buffer, initialized in
            let whole = UnsafeMutableBufferPointer(rebasing: buffer[..<count])
            do throws(TensorFileError) {
                try fill(UnsafeMutableRawBufferPointer(whole))
                initialized = count
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return values
    }

    private func narrowed(
        _ values: [UInt64], _ place: FilePlace
    ) throws(TensorFileError) -> [Int64] {
        guard values.allSatisfy({ $0 <= UInt64(Int64.max) }) else {
            throw place.error(.refused, "contains an integer over 2^63 - 1")
        }
        return values.map { Int64(bitPattern: $0) }
    }
}

extension StoredTensor.Elements {
    /// Decodes elements from their little-endian bytes, `type.byteCount` for each.
    ///
    /// - Throws: ``TensorFileError`` for an unsigned integer over 2⁶³ − 1.
    package init(
        littleEndian bytes: [UInt8], as type: StoredType, name: String
    ) throws(TensorFileError) {
        self = try ElementDecoding(type: type).read(
            count: bytes.count / type.byteCount, at: FilePlace("", name)
        ) { (target) throws(TensorFileError) in
            target.copyBytes(from: bytes.prefix(target.count))
        }
    }
}

extension Float {
    /// The value of a float16 bit pattern, computed without branches so that loops vectorize.
    init(halfBits bits: UInt16) {
        // After the shift the exponent is 112 too small; the product corrects it, subnormals
        // included.
        let magnitude = Float(bitPattern: UInt32(bits & 0x7fff) << 13) * 0x1p112
        // The largest float16 is 65504: anything above is infinite or NaN.
        let special: UInt32 = magnitude >= 65536 ? 0x7f80_0000 : 0
        let sign = UInt32(bits & 0x8000) << 16
        self.init(bitPattern: magnitude.bitPattern | special | sign)
    }
}
