/// The elements of a tensor in row-major (for images NCHW) order, as read and returned by programs.
public struct TensorData: Hashable, Sendable {
    /// The extents, outermost first.
    public let shape: Shape
    /// The elements, row-major.
    public var scalars: [Float]

    /// A tensor of these elements.
    ///
    /// - Precondition: `scalars` has `shape.count` elements.
    public init(shape: Shape, scalars: [Float]) {
        precondition(
            shape.count == scalars.count,
            "\(scalars.count) scalars do not fill a tensor of shape \(shape)")
        self.shape = shape
        self.scalars = scalars
    }

    /// A tensor whose elements are all `value`.
    public init(shape: Shape, repeating value: Float) {
        self.init(shape: shape, scalars: [Float](repeating: value, count: shape.count))
    }

    /// A single value, of rank 0.
    public init(scalar: Float) {
        self.init(shape: .scalar, scalars: [scalar])
    }
}
