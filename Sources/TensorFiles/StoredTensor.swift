public import TensorGraph

/// How a file stores the elements of a tensor.
public enum StoredType: String, Hashable, Sendable, CaseIterable {
    case float16, bfloat16, float32, float64
    case int8, int16, int32, int64
    case uint8, uint16, uint32, uint64

    public var isFloat: Bool {
        switch self {
        case .float16, .bfloat16, .float32, .float64: true
        default: false
        }
    }

    /// The size of one element in bytes.
    public var byteCount: Int {
        switch self {
        case .int8, .uint8: 1
        case .float16, .bfloat16, .int16, .uint16: 2
        case .float32, .int32, .uint32: 4
        case .float64, .int64, .uint64: 8
        }
    }
}

/// A tensor as it stands in a file: elements in row-major order, with a shape.
public struct StoredTensor: Hashable, Sendable {
    /// Floats of any width are read as `Float`, integers of any width as `Int64`.
    public enum Elements: Hashable, Sendable {
        case float32([Float])
        case int64([Int64])

        public var count: Int {
            switch self {
            case .float32(let values): values.count
            case .int64(let values): values.count
            }
        }
    }

    public let shape: Shape
    public let elements: Elements
    /// The type in the file that was read, or the type to write.
    public let storedType: StoredType

    /// - Precondition: `floats` has as many elements as `shape` says, and `storedType` is a float.
    public init(shape: Shape, floats: [Float], storedType: StoredType = .float32) {
        precondition(storedType.isFloat, "\(storedType) does not store floats")
        self.init(shape: shape, elements: .float32(floats), storedType: storedType)
    }

    /// - Precondition: `integers` has as many elements as `shape` says.
    public init(shape: Shape, integers: [Int64]) {
        self.init(shape: shape, elements: .int64(integers), storedType: .int64)
    }

    /// - Precondition: `bytes` has as many elements as `shape` says.
    public init(shape: Shape, bytes: [UInt8]) {
        self.init(shape: shape, elements: .int64(bytes.map(Int64.init)), storedType: .uint8)
    }

    /// A scalar, such as the `num_batches_tracked` of a batch normalization.
    public init(integer: Int64) {
        self.init(shape: .scalar, integers: [integer])
    }

    public init(_ data: TensorData, storedType: StoredType = .float32) {
        self.init(shape: data.shape, floats: data.scalars, storedType: storedType)
    }

    init(shape: Shape, elements: Elements, storedType: StoredType) {
        precondition(
            shape.count == elements.count,
            "\(elements.count) elements do not fill a tensor of shape \(shape)")
        self.shape = shape
        self.elements = elements
        self.storedType = storedType
    }

    /// The elements of a tensor of floats; nil for integers.
    public var floats: [Float]? {
        guard case .float32(let values) = elements else { return nil }
        return values
    }

    /// The elements of a tensor of integers; nil for floats.
    public var integers: [Int64]? {
        guard case .int64(let values) = elements else { return nil }
        return values
    }

    /// A tensor of floats as the graph's data; nil for integers.
    public var tensorData: TensorData? {
        floats.map { TensorData(shape: shape, scalars: $0) }
    }
}
