import RetintMLPackage
import RetintONNXProto

extension MILDataType {
    /// ONNX's type of the same elements, stored the same way; nil if it has none.
    var onnxType: ONNXTensorProto.DataType? {
        switch self {
        case .bool: .bool
        case .float16: .float16
        case .float32: .float
        case .float64: .double
        case .bfloat16: .bfloat16
        case .int4: .int4
        case .int8: .int8
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .uint4: .uint4
        case .uint8: .uint8
        case .uint16: .uint16
        case .uint32: .uint32
        case .uint64: .uint64
        case .float8E4M3FN: .float8E4M3Fn
        case .float8E5M2: .float8E5M2
        case .string, .uint1, .uint2, .uint3, .uint6: nil
        }
    }
}
