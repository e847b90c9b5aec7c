public import RetintTensors

/// The type in which a file stores the elements of a tensor.
public enum StoredType: String, Hashable, Sendable, Codable, CaseIterable {
    /// Floating-point numbers; bfloat16 is the upper half of a float32.
    case float16, bfloat16, float32, float64
    /// Signed integers.
    case int8, int16, int32, int64
    /// Unsigned integers.
    case uint8, uint16, uint32, uint64

    /// Whether it is a floating-point type.
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

/// A tensor of a file: its elements in row-major order and its shape.
public struct StoredTensor: Hashable, Sendable {
    /// The elements: floats of any width as `Float`, integers of any width as `Int64`.
    public enum Elements: Hashable, Sendable {
        /// The elements of a floating-point type.
        case float32([Float])
        /// The elements of an integer type.
        case int64([Int64])

        /// The number of elements.
        public var count: Int {
            switch self {
            case .float32(let values): values.count
            case .int64(let values): values.count
            }
        }
    }

    /// The shape.
    public let shape: Shape
    /// The elements in row-major order.
    public let elements: Elements
    /// The type in the file that was read, or the type to write.
    public let storedType: StoredType

    /// A tensor of floats.
    ///
    /// - Precondition: `floats` has `shape.count` elements, and `storedType` is a float type.
    public init(shape: Shape, floats: [Float], storedType: StoredType = .float32) {
        precondition(storedType.isFloat, "\(storedType) does not store floats")
        self.init(shape: shape, elements: .float32(floats), storedType: storedType)
    }

    /// A tensor of 64-bit integers.
    ///
    /// - Precondition: `integers` has `shape.count` elements.
    public init(shape: Shape, integers: [Int64]) {
        self.init(shape: shape, elements: .int64(integers), storedType: .int64)
    }

    /// A tensor of bytes, stored as uint8.
    ///
    /// - Precondition: `bytes` has `shape.count` elements.
    public init(shape: Shape, bytes: [UInt8]) {
        self.init(shape: shape, elements: .int64(bytes.map(Int64.init)), storedType: .uint8)
    }

    /// A scalar, such as the `num_batches_tracked` of a batch normalization.
    public init(integer: Int64) {
        self.init(shape: .scalar, integers: [integer])
    }

    /// The data of a graph tensor as a tensor to write.
    ///
    /// - Precondition: `storedType` is a float type.
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
