/// The element types of MIL. The raw values are those in a program; the model's interface and the
/// weight file number the types differently.
package enum MILDataType: Int, CaseIterable, Sendable {
    case bool = 1
    case string = 2
    case float16 = 10
    case float32 = 11
    case float64 = 12
    case bfloat16 = 13
    case int8 = 21
    case int16 = 22
    case int32 = 23
    case int64 = 24
    case int4 = 25
    case uint8 = 31
    case uint16 = 32
    case uint32 = 33
    case uint64 = 34
    case uint4 = 35
    case uint2 = 36
    case uint1 = 37
    case uint6 = 38
    case uint3 = 39
    case float8E4M3FN = 40
    case float8E5M2 = 41
}

extension MILDataType {
    /// The number of bits that store one element; nil for strings.
    package var bitWidth: Int? {
        switch self {
        case .string: nil
        case .float64, .int64, .uint64: 64
        case .float32, .int32, .uint32: 32
        case .float16, .bfloat16, .int16, .uint16: 16
        case .bool, .int8, .uint8, .float8E4M3FN, .float8E5M2: 8
        case .uint6: 6
        case .int4, .uint4: 4
        case .uint3: 3
        case .uint2: 2
        case .uint1: 1
        }
    }

    /// Whether several elements share a byte.
    package var isPacked: Bool { (bitWidth ?? 8) < 8 }

    /// Whether `floats()` can return the elements.
    package var isFloat: Bool { self == .float16 || self == .float32 }

    /// Whether the elements are signed integers.
    package var isSigned: Bool {
        switch self {
        case .int4, .int8, .int16, .int32, .int64: true
        default: false
        }
    }

    /// Whether the elements are integers.
    package var isInteger: Bool {
        switch self {
        case .int4, .int8, .int16, .int32, .int64: true
        case .uint1, .uint2, .uint3, .uint4, .uint6, .uint8, .uint16, .uint32, .uint64: true
        default: false
        }
    }

    /// Whether long arrays of this type are stored in the weight file.
    package var belongsInWeightFile: Bool {
        switch self {
        case .float16, .float32, .int8, .uint8: true
        default: isPacked
        }
    }

    /// The number of this type in the weight file; nil if that cannot store it.
    package var blobNumber: UInt32? { Self.blobNumbers[self] }

    private static let blobNumbers: [MILDataType: UInt32] = [
        .float16: 1, .float32: 2, .uint8: 3, .int8: 4, .bfloat16: 5, .int16: 6, .uint16: 7,
        .int4: 8, .uint1: 9, .uint2: 10, .uint4: 11, .uint3: 12, .uint6: 13, .int32: 14,
        .uint32: 15, .float8E4M3FN: 16, .float8E5M2: 17,
    ]
}

extension MILDataType: CustomStringConvertible {
    /// The name in MIL's text form: in messages, and as the `dtype` of a cast.
    package var description: String {
        switch self {
        case .bool: "bool"
        case .string: "string"
        case .float16: "fp16"
        case .float32: "fp32"
        case .float64: "fp64"
        case .bfloat16: "bf16"
        case .int4, .int8, .int16, .int32, .int64: "int\(bitWidth ?? 0)"
        case .float8E4M3FN: "fp8e4m3fn"
        case .float8E5M2: "fp8e5m2"
        default: "uint\(bitWidth ?? 0)"
        }
    }
}
