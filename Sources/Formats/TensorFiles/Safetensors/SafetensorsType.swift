/// The element types of the format, in increasing order of alignment, as the reference
/// implementation lists them (`Dtype` of safetensors/src/tensor.rs).
enum SafetensorsType: String, CaseIterable {
    case bool = "BOOL"
    case float4 = "F4"
    case float6e2m3 = "F6_E2M3"
    case float6e3m2 = "F6_E3M2"
    case uint8 = "U8"
    case int8 = "I8"
    case float8e5m2 = "F8_E5M2"
    case float8e4m3 = "F8_E4M3"
    case float8e8m0 = "F8_E8M0"
    case float8e4m3fnuz = "F8_E4M3FNUZ"
    case float8e5m2fnuz = "F8_E5M2FNUZ"
    case int16 = "I16"
    case uint16 = "U16"
    case float16 = "F16"
    case bfloat16 = "BF16"
    case int32 = "I32"
    case uint32 = "U32"
    case float32 = "F32"
    case complex64 = "C64"
    case float64 = "F64"
    case int64 = "I64"
    case uint64 = "U64"

    /// The size of one element.
    var bitCount: Int {
        if let stored { return stored.byteCount * 8 }
        return switch self {
        case .float4: 4
        case .float6e2m3, .float6e3m2: 6
        case .complex64: 64
        default: 8
        }
    }

    /// Its position in the order of alignment.
    var rank: Int { Self.allCases.firstIndex(of: self)! }

    /// The type in memory; nil for types that no weight here has.
    var stored: StoredType? {
        switch self {
        case .uint8: .uint8
        case .int8: .int8
        case .int16: .int16
        case .uint16: .uint16
        case .float16: .float16
        case .bfloat16: .bfloat16
        case .int32: .int32
        case .uint32: .uint32
        case .float32: .float32
        case .float64: .float64
        case .int64: .int64
        case .uint64: .uint64
        case .bool, .float4, .float6e2m3, .float6e3m2, .float8e5m2, .float8e4m3, .float8e8m0,
            .float8e4m3fnuz, .float8e5m2fnuz, .complex64:
            nil
        }
    }

    /// The type that a tensor is written in.
    init(_ stored: StoredType) {
        self = Self.allCases.first { $0.stored == stored }!
    }
}
