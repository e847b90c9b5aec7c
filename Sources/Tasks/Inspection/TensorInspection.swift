import RetintGraph
import RetintTensorFiles
import RetintTensors

/// A tensor of a file, without its values.
public struct TensorInspection: Encodable, Sendable {
    /// The dotted name, or the path of an HDF5 dataset.
    public let name: String
    /// Nil for a dataset that cannot be read as a tensor.
    public var shape: [Int]?
    /// The stored element type, such as `float32`; nil like ``shape``.
    public var type: String?
    /// The number of elements; 0 for a dataset that cannot be read as a tensor.
    public var elements = 0
    /// The size in bytes, uncompressed; 0 for a dataset that cannot be read as a tensor.
    public var bytes = 0
    /// Why a dataset cannot be read as a tensor.
    public var problem: String?

    init(name: String, shape: Shape, type: StoredType) {
        self.name = name
        self.shape = shape.dimensions
        self.type = type.rawValue
        elements = shape.count
        bytes = shape.count * type.byteCount
    }

    init(name: String, extents: [Int], type: String, bytes: Int) {
        (self.name, shape, self.type, self.bytes) = (name, extents, type, bytes)
        elements = extents.reduce(1, *)
    }

    init(name: String, problem: String) {
        self.name = name
        self.problem = problem
    }
}

extension [TensorInspection] {
    var elements: Int { reduce(0) { $0 + $1.elements } }
    var bytes: Int { reduce(0) { $0 + $1.bytes } }
}
