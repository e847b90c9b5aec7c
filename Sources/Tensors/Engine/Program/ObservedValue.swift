import RetintCompiler
import RetintGraph
import RetintTensors

/// An observed value in the memory of its program.
public struct ObservedValue {
    /// The index among the values that the program was asked to observe.
    public let index: Int
    private let buffer: Buffer
    private let executor: any Executor

    init(index: Int, buffer: Buffer, executor: any Executor) {
        (self.index, self.buffer, self.executor) = (index, buffer, executor)
    }

    /// The extents of the value.
    public var shape: Shape { buffer.shape }

    /// The value, row-major.
    public var data: TensorData { TensorData(shape: shape, scalars: executor.read(buffer)) }

    /// Copies the scalars in the engine's order, which is the same for equal shapes: faster than
    /// ``data`` for comparing two values element by element.
    ///
    /// - Parameter scalars: replaced; its memory is reused.
    public func copyScalars(to scalars: inout [Float]) {
        executor.copy(buffer, to: &scalars)
    }

    /// The largest magnitude of an element; infinite or NaN if any element is.
    public var largestMagnitude: Float { executor.largestMagnitude(of: buffer) }
}
