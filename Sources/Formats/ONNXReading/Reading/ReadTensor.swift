import RetintONNXProto
import RetintTensorFiles

/// The location of tensor elements that are not in the model itself.
enum ElementSource {
    /// External data files.
    case files(ExternalFiles)
    /// The checkpoint that the model is a part of.
    case checkpoint
}

extension ONNXTensor {
    /// - Throws: ``ONNXError`` for an unsupported type, or elements that do not fill the shape.
    init(_ proto: ONNXTensorProto, at place: String, from source: ElementSource) throws {
        guard let type = ONNXElementType(rawValue: proto.dataType),
            type.storedType != nil || type.isPacked
        else {
            throw ONNXError(
                place: place,
                rule: "elements of \(ONNXElementType.name(proto.dataType)) are not supported",
                remedy: "Export the network with float32, float16 or quantized weights.")
        }
        let count = try checkedCount(proto.dims, at: place)
        let dimensions = proto.dims.map { Int($0) }
        if proto.dataLocation == .external, case .checkpoint = source {
            self.init(type, dimensions, nil)
        } else {
            let elements = try Self.elements(proto, type, count, place, source)
            self.init(type, dimensions, type == .bool ? elements.truthValues : elements)
        }
    }

    private static func elements(
        _ proto: ONNXTensorProto, _ type: ONNXElementType, _ count: Int, _ place: String,
        _ source: ElementSource
    ) throws -> StoredTensor.Elements {
        let byteCount = type.byteCount(of: count)
        if proto.dataLocation == .external, case .files(let files) = source {
            let bytes = try files.read(proto.externalData, count: byteCount, at: place)
            return try decoded(bytes, type, count, place)
        }
        guard proto.hasRawData else { return try listed(proto, type, count, place) }
        guard proto.rawData.count == byteCount else {
            throw ONNXError(
                place: place,
                rule: "its shape needs \(byteCount) bytes of elements, not \(proto.rawData.count)")
        }
        return try decoded([UInt8](proto.rawData), type, count, place)
    }

    private static func decoded(
        _ bytes: [UInt8], _ type: ONNXElementType, _ count: Int, _ place: String
    ) throws -> StoredTensor.Elements {
        guard let stored = type.storedType else { return .int64(nibbles(bytes, type, count)) }
        do {
            return try StoredTensor.Elements(littleEndian: bytes, as: stored, name: place)
        } catch {
            throw ONNXError(place: place, rule: error.problem)
        }
    }

    /// Integers of 4 bits, the lower half of a byte first.
    private static func nibbles(
        _ bytes: [UInt8], _ type: ONNXElementType, _ count: Int
    ) -> [Int64] {
        (0..<count).map { index in
            let code = Int64(bytes[index / 2] >> (index % 2 == 0 ? 0 : 4) & 0xF)
            return type == .int4 && code > 7 ? code - 16 : code
        }
    }

    /// Elements in the field of their type.
    private static func listed(
        _ proto: ONNXTensorProto, _ type: ONNXElementType, _ count: Int, _ place: String
    ) throws -> StoredTensor.Elements {
        func check(_ found: Int, _ needed: Int) throws {
            guard found != needed else { return }
            throw ONNXError(
                place: place, rule: "its shape needs \(needed) elements, not \(found)")
        }
        switch type {
        case .float:
            try check(proto.floatData.count, count)
            return .float32(proto.floatData)
        case .double:
            try check(proto.doubleData.count, count)
            return .float32(proto.doubleData.map { Float($0) })
        case .int64:
            try check(proto.int64Data.count, count)
            return .int64(proto.int64Data)
        case .uint32, .uint64:
            try check(proto.uint64Data.count, count)
            return .int64(proto.uint64Data.map { Int64(clamping: $0) })
        case .float16, .bfloat16:
            try check(proto.int32Data.count, count)
            let bytes = proto.int32Data.flatMap { bits in
                [UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8)]
            }
            return try decoded(bytes, type, count, place)
        case .int4, .uint4:
            try check(proto.int32Data.count, (count + 1) / 2)
            let bytes = proto.int32Data.map { UInt8(truncatingIfNeeded: $0) }
            return .int64(nibbles(bytes, type, count))
        default:
            try check(proto.int32Data.count, count)
            let range = type.range ?? Int64.min...Int64.max
            return .int64(
                proto.int32Data.map { min(max(Int64($0), range.lowerBound), range.upperBound) })
        }
    }
}

extension StoredTensor.Elements {
    /// 1 for each integer that is not 0.
    fileprivate var truthValues: StoredTensor.Elements {
        if case .int64(let values) = self { .int64(values.map { $0 == 0 ? 0 : 1 }) } else { self }
    }
}
