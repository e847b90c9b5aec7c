import RetintCompiler
import RetintGraph
import RetintTensors

/// Runs a ``HostOperation`` on copies of its inputs in logical order.
///
/// If the operation throws, or returns another shape than it stated, the result is zeros and
/// ``failure`` says why.
final class HostKernel: Kernel, FallibleKernel {
    private let operation: any HostOperation
    private let module: String
    private let inputs: [Buffer]
    private let output: Buffer
    private(set) var failure: GraphError?

    /// - Parameter module: the module that applied the operation, for ``failure``.
    init(_ operation: any HostOperation, module: String, inputs: [Buffer], output: Buffer) {
        (self.operation, self.module) = (operation, module)
        (self.inputs, self.output) = (inputs, output)
        // No work: the operation runs on the thread that runs the program.
        super.init(name: operation.name, work: 0)
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        guard part.index == 0 else { return }
        do {
            output.load(try evaluate().scalars)
            failure = nil
        } catch {
            output.pointer.update(repeating: 0, count: output.count)
            failure = error
        }
    }

    private func evaluate() throws(GraphError) -> TensorData {
        let result: TensorData
        do {
            result = try operation.evaluate(
                inputs.map { TensorData(shape: $0.shape, scalars: $0.scalars()) })
        } catch {
            throw problem((error as? ShapeError)?.reason ?? "\(error)")
        }
        guard result.shape == output.shape else {
            throw problem(
                "evaluated to shape \(result.shape), but its shape rule returned \(output.shape)")
        }
        return result
    }

    private func problem(_ reason: String) -> GraphError {
        GraphError(
            operation: operation.name, module: module, inputShapes: inputs.map(\.shape),
            reason: reason)
    }
}
