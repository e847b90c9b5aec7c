import CHDF5

/// The type of a dataset's elements: one of the plain numbers that PyTorch writes.
struct HDF5ElementType {
    let stored: StoredType
    let isBigEndian: Bool

    init(of dataset: hid_t, _ place: HDF5Place) throws(TensorFileError) {
        let type = try place.handle(H5Dget_type(dataset), "has no type")
        isBigEndian = H5Tget_order(type.id) == H5T_ORDER_BE
        switch H5Tget_class(type.id) {
        case H5T_FLOAT: stored = try Self.float(type.id, isBigEndian, place)
        case H5T_INTEGER: stored = try Self.integer(type.id, place)
        case let other: throw Self.unsupported(Self.name(of: other), place)
        }
    }

    private static func float(
        _ type: hid_t, _ isBigEndian: Bool, _ place: HDF5Place
    ) throws(TensorFileError) -> StoredType {
        let order: Int32 = isBigEndian ? 1 : 0
        let candidates: [(StoredType, hid_t)] = [
            (.float32, chdf5_float32(order)), (.float64, chdf5_float64(order)),
            (.float16, chdf5_float16(order, 5)), (.bfloat16, chdf5_float16(order, 8)),
        ]
        defer { for candidate in candidates { H5Tclose(candidate.1) } }
        guard let match = candidates.first(where: { H5Tequal(type, $0.1) > 0 }) else {
            throw unsupported("floats of an unusual format", place)
        }
        return match.0
    }

    private static func integer(
        _ type: hid_t, _ place: HDF5Place
    ) throws(TensorFileError) -> StoredType {
        let size = H5Tget_size(type)
        let isSigned = H5Tget_sign(type) == H5T_SGN_2
        let isPlain = size <= 8 && H5Tget_precision(type) == size * 8 && H5Tget_offset(type) == 0
        let order = H5Tget_order(type)
        let name = "\(isSigned ? "" : "u")int\(size * 8)"
        guard isPlain, order == H5T_ORDER_LE || order == H5T_ORDER_BE,
            let stored = StoredType(rawValue: name)
        else { throw unsupported("integers of an unusual format", place) }
        return stored
    }

    private static func unsupported(_ what: String, _ place: HDF5Place) -> TensorFileError {
        place.error(.refused, "holds \(what); a tensor holds plain floats or integers")
    }

    private static func name(of type: H5T_class_t) -> String {
        switch type {
        case H5T_STRING: "strings"
        case H5T_COMPOUND: "compound values"
        case H5T_ENUM: "enumerated values, such as booleans"
        case H5T_REFERENCE: "references"
        case H5T_VLEN: "lists of varying length"
        case H5T_ARRAY: "arrays"
        case H5T_OPAQUE, H5T_BITFIELD: "opaque bytes"
        default: "values of an unknown type"
        }
    }
}

extension HDF5ElementType {
    typealias Fill = (UnsafeMutableRawBufferPointer) throws(TensorFileError) -> Void

    /// Reads elements as floats or as 64-bit integers.
    ///
    /// - Parameter fill: writes the bytes of the elements as they stand in the file.
    func read(
        count: Int, at place: HDF5Place, _ fill: Fill
    ) throws(TensorFileError) -> StoredTensor.Elements {
        switch stored {
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

    /// An array whose bytes `fill` writes; no byte of it is written twice.
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
        _ values: [UInt64], _ place: HDF5Place
    ) throws(TensorFileError) -> [Int64] {
        guard values.allSatisfy({ $0 <= UInt64(Int64.max) }) else {
            throw place.error(.refused, "holds an integer over 2^63 - 1")
        }
        return values.map { Int64(bitPattern: $0) }
    }
}

extension Float {
    /// The value of a half-precision float, without a branch, so that loops over it vectorise.
    init(halfBits bits: UInt16) {
        // Moved into place the exponent is 112 too small; the product also scales subnormals.
        let magnitude = Float(bitPattern: UInt32(bits & 0x7fff) << 13) * 0x1p112
        // The largest half is 65504: what lies above is infinite or not a number.
        let special: UInt32 = magnitude >= 65536 ? 0x7f80_0000 : 0
        let sign = UInt32(bits & 0x8000) << 16
        self.init(bitPattern: magnitude.bitPattern | special | sign)
    }
}
