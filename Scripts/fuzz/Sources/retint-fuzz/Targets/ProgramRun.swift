@testable import RetintEngine
@testable import RetintRuntime
@testable import RetintGraph
@testable import RetintTensors

/// Compiles and runs a model.
enum ProgramRun {
    private static let memoryLimit = 64 << 20
    private static let maximumElements = 1 << 20

    /// - Parameter observes: whether all values are computed one by one, as `verify` does.
    static func run(_ model: Model, observes: Bool) throws {
        let graph = try model.graph(folds: !observes)
        var options = CompileOptions(threads: 1)
        options.memoryLimit = memoryLimit
        let program = try ModelProgram(graph, observes: observes, options: options)
        // What takes long because it is large is not a finding.
        let elements = graph.values.reduce(0) { $0 + $1.tensor.shape.count }
        guard elements < maximumElements else { return }
        let inputs = graph.inputs.map { name, shape in
            NamedTensor(
                name,
                TensorData(shape: shape, scalars: (0..<shape.count).map { Float($0 % 101) - 50 }))
        }
        var run = try program.start(inputs)
        _ = try run.finish()
    }
}
