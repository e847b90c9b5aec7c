public import RetintTensors

/// A custom operation whose result is computed by Swift code on whole tensors.
///
/// The engine runs it in any program, between its own kernels: it copies the inputs to logical
/// (row-major, for images NCHW) order, calls ``evaluate(_:)`` on one thread and copies the result
/// back. That is slower than a kernel of the engine, but takes only a few lines:
///
///     struct Cube: HostOperation {
///         static let name = "cube"
///
///         func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
///             guard inputs.count == 1 else { throw ShapeError("takes one input") }
///             return inputs[0]
///         }
///
///         func evaluate(_ inputs: [TensorData]) -> TensorData {
///             TensorData(shape: inputs[0].shape, scalars: inputs[0].scalars.map { $0 * $0 * $0 })
///         }
///
///         func gradients(_ backward: Backward) -> [Tensor?] {
///             let x = backward.inputs[0]
///             return [backward.gradient * x * x * 3]
///         }
///     }
///
///     let y = graph.apply(Cube(), [x])
///
/// Omit ``Operation/gradients(_:)`` if nothing is differentiated through the operation.
public protocol HostOperation: Operation {
    /// Computes the result.
    ///
    /// Called once per run, or once per load of variables if the inputs depend only on these.
    ///
    /// - Parameter inputs: the values of the inputs, with the shapes that
    ///   ``Operation/outputShape(for:)`` accepted.
    /// - Returns: the result, of the shape that ``Operation/outputShape(for:)`` returned.
    /// - Throws: any error; the run of the program then throws a ``GraphError`` that names this
    ///   operation and quotes the error.
    func evaluate(_ inputs: [TensorData]) throws -> TensorData
}
