import RetintCompiler
import RetintGraph
import RetintTensors

/// A run that stops at each observed value, so that only the latest values need to be in memory.
///
///     var run = try program.start(inputs)
///     while let values = run.next() { … }
///     let outputs = try run.finish()
///
/// A program has one run at a time; runs of several programs may be interleaved.
public struct ObservedRun {
    private let program: Program
    private var step = -1

    init(_ program: Program) {
        self.program = program
    }

    /// Continues until observed values were computed, and returns those; nil when all steps are
    /// done. They can be read until the next call.
    public mutating func next() -> [ObservedValue]? {
        while step < program.steps.count {
            let values = step < 0 ? program.observations.atStart : program.advance(step)
            step += 1
            if !values.isEmpty { return values }
        }
        return nil
    }

    /// Runs the remaining steps.
    ///
    /// - Returns: the outputs by name.
    /// - Throws: ``GraphError`` if a ``HostOperation`` failed.
    public mutating func finish() throws(GraphError) -> [String: TensorData] {
        while next() != nil {}
        return try program.results()
    }
}

extension Program {
    /// Starts a run that stops at the observed values; see ``ObservedRun``.
    ///
    /// - Parameter inputs: as for ``run(_:)``.
    /// - Throws: ``GraphError`` if an input is missing or has another shape.
    public func start(_ inputs: [String: TensorData]) throws(GraphError) -> ObservedRun {
        try check(inputs)
        withExecutor {
            load(inputs: inputs)
            $0.prepare()
        }
        return ObservedRun(self)
    }

    /// Runs one step and returns the observed values that it computed.
    fileprivate func advance(_ step: Int) -> [ObservedValue] {
        guard step < steps.count else { return [] }
        withExecutor { $0.run(step: step) }
        return observations.afterStep[step] ?? []
    }
}

/// After which step of a run each observed value can be read.
struct Observations {
    /// Values that depend only on inputs or variables: before the first step.
    private(set) var atStart: [ObservedValue] = []
    private(set) var afterStep: [Int: [ObservedValue]] = [:]

    init(_ nodes: [Int], in compiled: CompiledGraph, _ executor: any Executor) {
        for (index, node) in nodes.enumerated() {
            let value = ObservedValue(
                index: index, buffer: compiled.values.buffer(node), executor: executor)
            if let step = compiled.runStep(computing: node) {
                afterStep[step, default: []].append(value)
            } else {
                atStart.append(value)
            }
        }
    }
}
