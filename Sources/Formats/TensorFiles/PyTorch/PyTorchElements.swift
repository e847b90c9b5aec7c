/// The types of elements by their names in PyTorch: that of a `dtype` and that of a storage.
enum PyTorchElements: String, CaseIterable {
    case float32, float16, bfloat16, float64
    case int8, int16, int32, int64
    case uint8, uint16, uint32, uint64
    case bool
    case complex64, complex128
    case float8E4M3 = "float8_e4m3fn"
    case float8E5M2 = "float8_e5m2"
    case float8E4M3FNUZ = "float8_e4m3fnuz"
    case float8E5M2FNUZ = "float8_e5m2fnuz"

    /// The type that a file names, as in `torch.float32` or `torch.FloatStorage`.
    init?(name: String) {
        guard let type = Self(rawValue: name) ?? Self.storages[name] else { return nil }
        self = type
    }

    private static let storages: [String: PyTorchElements] = [
        "FloatStorage": .float32, "HalfStorage": .float16, "BFloat16Storage": .bfloat16,
        "DoubleStorage": .float64, "CharStorage": .int8, "ShortStorage": .int16,
        "IntStorage": .int32, "LongStorage": .int64, "ByteStorage": .uint8, "BoolStorage": .bool,
        "ComplexFloatStorage": .complex64, "ComplexDoubleStorage": .complex128,
    ]

    /// The size of one element.
    var byteCount: Int {
        switch self {
        case .complex64: 8
        case .complex128: 16
        default: stored?.byteCount ?? 1
        }
    }

    /// The type in memory; nil for types that no weight here has.
    var stored: StoredType? { StoredType(rawValue: rawValue) }
}
