/// The elements of a tensor, in memory or at a place from which they are read on demand.
///
/// A program reads its variables from sources, so that weights that it lays out for its kernels
/// need not be in memory twice.
public protocol TensorSource: Sendable {
    /// The extents, outermost first.
    var shape: Shape { get }

    /// Copies elements, counted in row-major order. Several threads may call it at the same time.
    ///
    /// - Parameters:
    ///   - range: within the elements.
    ///   - target: has room for the range.
    /// - Throws: the error of the place that they are read from.
    func read(_ range: Range<Int>, into target: UnsafeMutablePointer<Float>) throws

    /// The same elements, with fast access to parts of them.
    ///
    /// - Throws: as ``read(_:into:)``.
    func opened() throws -> any TensorSource
}

extension TensorSource {
    /// This source itself.
    public func opened() throws -> any TensorSource { self }

    /// All elements in memory.
    ///
    /// - Throws: as ``read(_:into:)``.
    public func tensorData() throws -> TensorData {
        let source = try opened()
        if let data = source as? TensorData { return data }
        let scalars = try [Float](unsafeUninitializedCapacity: shape.count) { buffer, count in
            if let base = buffer.baseAddress { try source.read(0..<shape.count, into: base) }
            count = shape.count
        }
        return TensorData(shape: shape, scalars: scalars)
    }
}

extension TensorData: TensorSource {
    /// Copies elements.
    public func read(_ range: Range<Int>, into target: UnsafeMutablePointer<Float>) {
        scalars.withUnsafeBufferPointer { scalars in
            guard let first = scalars.baseAddress else { return }
            target.update(from: first + range.lowerBound, count: range.count)
        }
    }
}

/// The elements of a tensor that are computed each time they are needed.
package struct ComputedTensor: TensorSource {
    package let shape: Shape
    private let compute: @Sendable () throws -> TensorData

    /// - Parameter compute: returns the same elements at each call.
    package init(shape: Shape, _ compute: @escaping @Sendable () throws -> TensorData) {
        (self.shape, self.compute) = (shape, compute)
    }

    package func read(_ range: Range<Int>, into target: UnsafeMutablePointer<Float>) throws {
        try compute().read(range, into: target)
    }

    package func opened() throws -> any TensorSource { try compute() }
}
