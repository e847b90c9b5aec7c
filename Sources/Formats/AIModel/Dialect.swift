import RetintMLPackage

/// The dialect `aicode` as Apple's `coreai-core` 1.0.0b3 writes it. The numbers were learnt from
/// programs of one operation each.
enum Dialect {
    static let name = "aicode"
    /// The dialect's version 2, as a variable-width number.
    static let version: [UInt8] = [0x05]
    /// The date of the newest operation that may be used, which every program states.
    static let revision = 20_260_317

    static let asset = "serialization.asset"
    static let graph = "dataflow.graph_v1"
    static let output = "dataflow.output_v1"
    static let yield = "dataflow.yield_v1"
    static let invoke = "dataflow.invoke_v1"
    static let constant = "primitive.constant_v1"
    /// The key of the names of inputs and outputs.
    static let nameKey = "aicode.name"

    /// The kinds of types by number.
    enum TypeCode {
        static let tensor = 2
        static let function = 30

        static let elements: [MILDataType: Int] = [
            .bool: 4, .float64: 5, .float32: 6, .float16: 7, .bfloat16: 8, .float8E5M2: 9,
            .float8E4M3FN: 10, .int64: 17, .int32: 18, .int16: 19, .int8: 20, .int4: 21,
            .uint64: 23, .uint32: 24, .uint16: 25, .uint8: 26, .uint4: 27, .uint2: 28, .uint1: 29,
            .uint6: 36, .uint3: 37,
        ]
        static let elementTypes = Dictionary(uniqueKeysWithValues: elements.map { ($1, $0) })
    }

    /// The kinds of attributes by number.
    enum AttributeCode {
        static let string = 1
        static let integer = 2
        static let type = 4
        static let array = 5
        static let elements = 6
        static let resource = 7
        static let named = 9
        static let symbol = 14
        static let constant = 16
        static let paddingMode = 17
        static let approximation = 19
        static let file = 30
        static let sourceRange = 31
        static let location = 40
        static let interpolationMode = 43
        static let noScope = 46
    }
}

/// How `pad` fills the added elements.
enum PaddingMode: Int {
    case circular, constant, reflect, replicate, symmetric
}

/// How `interpolate` computes a value between those of a grid.
enum InterpolationMode: Int {
    case linear, nearest
}

/// Whether `gelu` is exact.
enum GeluApproximation: Int {
    case none, tanh
}
