import RetintCUDA
import RetintGraph

/// The fastest algorithm for each convolution that was measured on this machine.
///
/// For others, the engine follows a rule of thumb. Algorithms round differently: with other
/// choices, the last bits of a program's results differ.
public struct KernelChoices: Sendable, Hashable {
    /// The algorithm's name by a description of the convolution, as written to files.
    public private(set) var names: [String: String]

    /// Creates choices from their names.
    ///
    /// - Parameter names: as in ``names``; those that the engine does not have are ignored.
    public init(names: [String: String] = [:]) {
        self.names = names
    }

    /// Whether a description is of a convolution on a GPU, which it names.
    package static func isOfGPU(task: String) -> Bool { EngineChoices.names(task: task) }

    func algorithm(
        _ task: ConvolutionTask, threads: Int, isFixed: Bool, _ formats: OperandFormats
    ) -> ConvolutionAlgorithm? {
        names[task.key(threads: threads, isFixed: isFixed, formats)]
            .flatMap(ConvolutionAlgorithm.init)
    }

    /// Measures each convolution of a program that was not measured yet.
    ///
    /// - Parameters:
    ///   - outputs: as for ``Program/init(outputs:observing:options:)``.
    ///   - report: called with each convolution and its seconds by algorithm.
    /// - Throws: ``GraphError`` if the program cannot be compiled.
    public mutating func measure(
        outputs: [(name: String, value: Tensor)], options: CompileOptions,
        report: (_ task: String, _ seconds: [(algorithm: String, seconds: Double)]) -> Void = {
            _, _ in
        }
    ) throws(GraphError) {
        guard let source = outputs.first?.value.graph else { return }
        let roots = outputs.map(\.value.id) + source.updates.map(\.value.id)
        let learns = !source.updates.isEmpty
        let prepared = try PassPipeline.run(
            PassPipeline.preparation(options, learns: learns), on: source, roots: roots)
        let graph = prepared.graph
        let threads = options.threads ?? ThreadPool.processorCount
        let rule = ConvolutionChoice(options, measured: self, threads: threads, learns: learns)
        let loaded = LoadedValues(learns: learns)
        for id in graph.live(from: roots.map { prepared.ids[$0] }) {
            let node = graph.nodes[id]
            let inputs = node.inputs.map { Tensor(graph: graph, id: $0) }
            guard let task = ConvolutionTask(node.operation, inputs.map(\.shape)) else { continue }
            let isFixed = rule.isFixed(task, inputs, loaded)
            let formats = rule.formats(of: task, isFixed)
            let key = task.key(threads: threads, isFixed: isFixed, formats)
            let algorithms = task.algorithms(options.winograd, formats)
            guard names[key] == nil, algorithms.count > 1 else { continue }
            let seconds = try Self.seconds(
                node.operation, task, isFixed, options, key, algorithms)
            add(key, seconds)
            report(key, seconds)
        }
    }

    mutating func add(_ task: String, _ seconds: [(algorithm: String, seconds: Double)]) {
        names[task] = seconds.min { $0.seconds < $1.seconds }?.algorithm
    }

    /// Algorithms are measured alternately, so that a slow moment of the machine affects all.
    private static let rounds = 5

    /// The shortest time of the operation in seconds, by algorithm.
    private static func seconds(
        _ operation: any Operation, _ task: ConvolutionTask, _ isFixed: Bool,
        _ options: CompileOptions, _ key: String, _ algorithms: [ConvolutionAlgorithm]
    ) throws(GraphError) -> [(algorithm: String, seconds: Double)] {
        var programs: [Program] = []
        for algorithm in algorithms {
            let graph = Graph()
            let first = graph.input("first", task.inputs[0])
            let second =
                isFixed
                ? graph.variable("second", task.inputs[1], role: .parameter)
                : graph.input("second", task.inputs[1])
            var forced = options
            forced.choices = KernelChoices(names: [key: algorithm.rawValue])
            let result = graph.apply(operation, [first, second])
            programs.append(try Program(outputs: [("result", result)], options: forced))
        }
        var least = algorithms.map { _ in Double.infinity }
        for _ in 0...rounds {
            for (index, program) in programs.enumerated() {
                let seconds = program.profile(runs: 1).reduce(0) { $0 + $1.seconds }
                least[index] = min(least[index], seconds)
            }
        }
        return zip(algorithms, least).map { ($0.rawValue, $1) }
    }
}
