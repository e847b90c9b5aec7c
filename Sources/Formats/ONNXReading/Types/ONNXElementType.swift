import RetintTensorFiles

/// The type of a tensor's elements, with ONNX's numbers.
package enum ONNXElementType: Int32, Hashable, Sendable {
    case float = 1
    case uint8, int8, uint16, int16, int32, int64, string, bool, float16, double, uint32, uint64
    case complex64, complex128, bfloat16
    case uint4 = 21
    case int4

    /// ONNX's name in lower case, or the number of a type that is not known.
    package static func name(_ number: Int32) -> String {
        Self(rawValue: number).map { "\($0)" } ?? "type \(number)"
    }

    /// How single elements are stored; nil for types that are packed or unsupported.
    package var storedType: StoredType? {
        switch self {
        case .float: .float32
        case .float16: .float16
        case .bfloat16: .bfloat16
        case .double: .float64
        case .int8: .int8
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .uint8, .bool: .uint8
        case .uint16: .uint16
        case .uint32: .uint32
        case .uint64: .uint64
        case .string, .complex64, .complex128, .uint4, .int4: nil
        }
    }

    /// Whether two elements share a byte.
    package var isPacked: Bool { self == .int4 || self == .uint4 }

    /// The bytes of `count` elements in a file.
    package func byteCount(of count: Int) -> Int {
        isPacked ? (count + 1) / 2 : count * (storedType?.byteCount ?? 1)
    }

    package var isFloat: Bool { storedType?.isFloat ?? false }

    /// The values of an integer type; nil for other types.
    package var range: ClosedRange<Int64>? {
        switch self {
        case .int4: -8...7
        case .uint4: 0...15
        case .int8: -128...127
        case .uint8: 0...255
        case .int16: -32768...32767
        case .uint16: 0...65535
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        case .uint32: 0...Int64(UInt32.max)
        case .int64: .min ... .max
        case .uint64: 0 ... .max
        default: nil
        }
    }
}
