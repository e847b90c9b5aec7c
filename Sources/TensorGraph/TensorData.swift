/// Numbers with a shape, in row-major (for pictures: NCHW) order: what goes into a program and
/// comes out of it.
public struct TensorData: Hashable, Sendable {
    public let shape: Shape
    public var scalars: [Float]

    /// - Precondition: `scalars` has as many elements as `shape` says.
    public init(shape: Shape, scalars: [Float]) {
        precondition(
            shape.count == scalars.count,
            "\(scalars.count) scalars do not fill a tensor of shape \(shape)")
        self.shape = shape
        self.scalars = scalars
    }

    public init(shape: Shape, repeating value: Float) {
        self.init(shape: shape, scalars: [Float](repeating: value, count: shape.count))
    }

    public init(scalar: Float) {
        self.init(shape: .scalar, scalars: [scalar])
    }
}
