import RetintGraph
import RetintLocks
import RetintTensors

/// Runs a model of any kind on tensors, in the units of its file.
///
/// ```swift
/// let runner = ModelRunner(try Model(contentsOf: "network.onnx", form: .file))
/// let outputs = try runner.run([NamedTensor("x", x)])
/// ```
///
/// A program is compiled for the shapes of the inputs and kept for the next run. Runs of several
/// threads take turns.
public final class ModelRunner: @unchecked Sendable {
    /// The model.
    public let model: Model
    /// The programs by the shapes of their inputs, the most recent last; guarded by ``lock``.
    private var programs: [(shapes: [String: Shape], program: ModelProgram)] = []
    private let lock = Mutex(())
    /// Each has its own copy of the weights.
    private static let mostPrograms = 2

    /// Nothing is compiled until the first run.
    public init(_ model: Model) { self.model = model }

    /// The outputs in the model's order.
    ///
    /// - Parameters:
    ///   - inputs: the model's inputs by name; one without a matching name stands for the only
    ///     input. Pixels of an image are 0…255, as [N, C, H, W].
    ///   - isCancelled: called between the network's steps.
    /// - Throws: ``ModelError`` if the inputs are not those of the model or do not have shapes that
    ///   it takes; `CancellationError`.
    public func run(
        _ inputs: [NamedTensor], isCancelled: () -> Bool = { false }
    ) throws -> [NamedTensor] {
        let values = try inputs.matched(
            to: try model.interface.inputs.map(\.name), of: model.name)
        return try lock.withLock { _ in
            let program = try program(for: values.mapValues(\.shape))
            do {
                return program.named(try program.program.run(values, isCancelled: isCancelled))
            } catch let error as GraphError {
                throw ModelError(.inputs, model.name, error)
            }
        }
    }

    private func program(for shapes: [String: Shape]) throws -> ModelProgram {
        if let index = programs.firstIndex(where: { $0.shapes == shapes }) {
            programs.append(programs.remove(at: index))
        } else {
            // Before the next one takes memory.
            if programs.count >= Self.mostPrograms { programs.removeFirst() }
            programs.append((shapes, try model.program(shapes: shapes)))
        }
        return programs[programs.count - 1].program
    }
}
