/// A constant: its type and its elements, row by row.
package struct MILValue: Hashable, Sendable {
    package var type: MILTensorType
    package var content: Content

    /// The elements. Each type has one case; any may instead be a blob in a weight file.
    package enum Content: Hashable, Sendable {
        /// float32.
        case floats([Float])
        /// Bit patterns of float16.
        case halfs([UInt16])
        /// float64.
        case doubles([Double])
        /// int16, uint16, int32.
        case integers([Int32])
        /// int64, and the bit patterns of uint64.
        case longIntegers([Int64])
        case bools([Bool])
        case strings([String])
        /// int8, uint8, uint32, packed and rare types as stored, little-endian.
        case bytes([UInt8])
        /// In a weight file on disk, read on demand.
        case blob(BlobReference)
    }

    package init(type: MILTensorType, content: Content) {
        self.type = type
        self.content = content
    }
}

extension MILValue {
    /// A float tensor of the given precision; float16 rounds to nearest, ties to even.
    package static func floats(
        _ values: [Float], shape: [Int]? = nil, as dataType: MILDataType = .float32
    ) -> MILValue {
        let type = MILTensorType(dataType, shape ?? [values.count])
        let isHalf = dataType == .float16
        return MILValue(
            type: type, content: isHalf ? .halfs(HalfPrecision.halfs(values)) : .floats(values))
    }

    package static func float(_ value: Float, as dataType: MILDataType = .float32) -> MILValue {
        floats([value], shape: [], as: dataType)
    }

    package static func integers(_ values: [Int32], shape: [Int]? = nil) -> MILValue {
        MILValue(
            type: MILTensorType(.int32, shape ?? [values.count]), content: .integers(values))
    }

    package static func integer(_ value: Int32) -> MILValue { integers([value], shape: []) }

    package static func bools(_ values: [Bool]) -> MILValue {
        MILValue(type: MILTensorType(.bool, [values.count]), content: .bools(values))
    }

    package static func bool(_ value: Bool) -> MILValue {
        MILValue(type: MILTensorType(.bool), content: .bools([value]))
    }

    package static func string(_ value: String) -> MILValue {
        MILValue(type: MILTensorType(.string), content: .strings([value]))
    }

    package static func int8(_ values: [Int8], shape: [Int]? = nil) -> MILValue {
        let bytes = values.map { UInt8(bitPattern: $0) }
        return MILValue(type: MILTensorType(.int8, shape ?? [values.count]), content: .bytes(bytes))
    }

    package static func uint8(_ values: [UInt8], shape: [Int]? = nil) -> MILValue {
        MILValue(type: MILTensorType(.uint8, shape ?? [values.count]), content: .bytes(values))
    }

    package static func uint32(_ values: [UInt32], shape: [Int]? = nil) -> MILValue {
        MILValue(
            type: MILTensorType(.uint32, shape ?? [values.count]),
            content: .bytes(LittleEndian.bytes(values)))
    }

    /// Integers of 1 to 8 bits (`uint1` … `uint6`, `int4`), packed as in the weight file.
    package static func packed(
        _ values: [Int32], shape: [Int]? = nil, as dataType: MILDataType
    ) -> MILValue {
        MILValue(
            type: MILTensorType(dataType, shape ?? [values.count]),
            content: .bytes(BitPacking.pack(values, bits: dataType.bitWidth ?? 8)))
    }
}
