import Synchronization
import TensorGraph

/// Which algorithm was the fastest for each convolution that was measured on this machine.
///
/// Where nothing was measured, the engine goes by a rule of thumb. Algorithms differ in their
/// rounding: programs compiled with other choices give other last bits.
public struct KernelChoices: Sendable, Hashable {
    /// The algorithm's name by the task's, as they stand in a file.
    public private(set) var names: [String: String]

    public init(names: [String: String] = [:]) {
        self.names = names
    }

    func algorithm(
        _ task: ConvolutionTask, threads: Int, isFixed: Bool
    ) -> ConvolutionAlgorithm? {
        names[task.key(threads: threads, isFixed: isFixed)].flatMap(ConvolutionAlgorithm.init)
    }

    /// Measures, for each convolution of a program, what was not measured yet.
    ///
    /// - Parameters:
    ///   - outputs: as for ``Program/init(outputs:options:)``.
    ///   - report: called with each task and its seconds by algorithm.
    public mutating func measure(
        outputs: [(name: String, value: Tensor)], options: CompileOptions,
        report: (_ task: String, _ seconds: [(algorithm: String, seconds: Double)]) -> Void = {
            _, _ in
        }
    ) throws(GraphError) {
        guard let source = outputs.first?.value.graph else { return }
        let roots = outputs.map(\.value.id) + source.updates.map(\.value.id)
        let lowered = GraphRewrite(
            source, roots: roots,
            rule: Lowering(roundsToHalf: options.roundsToHalf).callAsFunction
        ).graph
        let threads = options.threads ?? ThreadPool.processorCount
        let rule = ConvolutionChoice(
            winograd: options.winograd, measured: self, threads: threads,
            learns: !source.updates.isEmpty)
        for node in lowered.nodes {
            let inputs = node.inputs.map { Tensor(graph: lowered, id: $0) }
            guard let task = ConvolutionTask(node.operation, inputs.map(\.shape)) else { continue }
            let isFixed = rule.isFixed(task, inputs, lowered)
            let key = task.key(threads: threads, isFixed: isFixed)
            let algorithms = task.algorithms(options.winograd)
            guard names[key] == nil, algorithms.count > 1 else { continue }
            let seconds = try Self.seconds(
                node.operation, task, isFixed, options, key, algorithms)
            names[key] = seconds.min { $0.seconds < $1.seconds }?.algorithm
            report(key, seconds)
        }
    }

    /// Rounds of measurement; a machine's slow moments then fall on all algorithms.
    private static let rounds = 5

    /// The least seconds that the operation alone took, by algorithm.
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

/// Measures what is not known yet, for each program that is compiled with it.
public final class KernelTuner: Sendable {
    private let known: Mutex<KernelChoices>
    private let report:
        @Sendable (_ task: String, _ seconds: [(algorithm: String, seconds: Double)]) -> Void

    /// - Parameter report: called for each task that is measured, with its seconds by algorithm.
    public init(
        _ known: KernelChoices = .init(),
        report: @escaping @Sendable (String, [(algorithm: String, seconds: Double)]) -> Void = {
            _, _ in
        }
    ) {
        self.known = Mutex(known)
        self.report = report
    }

    /// What is known by now.
    public var choices: KernelChoices { known.withLock { $0 } }

    func choices(
        for outputs: [(name: String, value: Tensor)], _ options: CompileOptions
    ) throws(GraphError) -> KernelChoices {
        var options = options
        options.tuner = nil
        var choices = choices
        try choices.measure(outputs: outputs, options: options, report: report)
        known.withLock { [choices] in $0 = choices }
        return choices
    }
}
