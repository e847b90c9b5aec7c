import RetintCompiler
import RetintGraph
import RetintTensors

/// A graph compiled for its shapes: runs many times without allocating.
///
/// A program keeps the values of its variables from run to run. It is used by one thread at a
/// time; inside, it runs on all threads of its options.
///
///     let program = try Program(outputs: [("ab", ab)])
///     try program.load(weights)
///     let ab = try program.run(["lightness": lightness])["ab"]
public final class Program {
    private let executor: any Executor
    private let compiled: CompiledGraph
    private let outputs: [(name: String, buffer: Buffer)]
    private let variables: [String: Buffer]
    /// The steps of a run.
    let steps: [Step]
    /// The values at which ``start(_:)`` stops, and after which steps.
    let observations: Observations

    /// Compiles what `outputs` and the graph's updates need.
    ///
    /// - Parameters:
    ///   - outputs: tensors of one graph, and the names under which runs return them.
    ///   - observed: values that ``start(_:)`` stops at. Each is written to memory, where it can be
    ///     read until the next step; it is not fused with what uses it, which can change last bits.
    /// - Throws: ``GraphError`` if a rule was violated while the graph was built, there is no
    ///   output, an operation has no kernel, or the program needs more memory than its options
    ///   allow.
    public init(
        outputs: [(name: String, value: Tensor)], observing observed: [Tensor] = [],
        options: CompileOptions = .init()
    ) throws(GraphError) {
        guard let source = outputs.first?.value.graph else {
            throw GraphError(operation: "compile", reason: "a program needs at least one output")
        }
        try source.validate()
        let updates = source.updates
        let values = outputs.map(\.value) + observed + updates.map(\.value)
        let device = try options.device.backend(for: outputs, options, learns: !updates.isEmpty)
        let final = try PassPipeline.run(
            device.graphPasses, on: source, roots: values.map(\.id))
        let ends = outputs.map { final.ids[$0.value.id] }
        let stops = observed.map { final.ids[$0.id] }
        compiled = try Compiler.compile(
            final.graph, outputs: ends, observed: stops,
            updates: updates.compactMap { update in
                source.variable(named: update.variable).map {
                    (final.graph.apply($0.operation, []).id, final.ids[update.value.id])
                }
            }, passes: device.stepPasses, budget: MemoryBudget(bytes: options.memoryLimit),
            on: device.backend, options.communicator)
        let table = compiled.values
        self.outputs = zip(outputs, ends).map { ($0.name, table.buffer($1)) }
        variables = Dictionary(table.variables.map { ($0.name, $0.buffer) }) { first, _ in first }
        steps = compiled.steps.filter { !$0.isHoisted }
        executor = try device.executor(compiled)
        observations = Observations(stops, in: compiled, executor)
    }
}

// MARK: Variables

extension Program {
    /// The number of threads of a run.
    public var threads: Int { executor.threads }

    /// Bytes of intermediate results and workspace.
    public var arenaBytes: Int { executor.arenaBytes }

    /// Names and shapes of the variables, in the order of their first use.
    public var variableShapes: [(name: String, shape: Shape)] {
        compiled.values.variables.map { ($0.name, $0.buffer.shape) }
    }

    /// Bytes of the variables.
    public var variableBytes: Int {
        compiled.values.variables.reduce(0) { $0 + $1.buffer.count } * executor.elementBytes
    }

    /// The messages of a run to other ranks, in this order.
    package var messages: [String] {
        steps.compactMap {
            ($0.kernel as? any MessagingKernel)?.message
                ?? ($0.kernel as? RecordedKernel)?.message
        }
    }

    /// Multiply-adds of convolutions and matrix products in one run.
    public var multiplyAdds: Int { steps.reduce(0) { $0 + $1.kernel.multiplyAdds } }

    /// Sets variables by name. Those that are not named keep their values, and names that the
    /// program does not have are ignored.
    ///
    /// - Throws: ``GraphError`` if a shape differs, or a variable is not named that is only in
    ///   memory while it is laid out (see ``CompileOptions/releasesWeights``); nothing is changed
    ///   then.
    public func load(_ values: [String: TensorData]) throws(GraphError) {
        do {
            try load(values as [String: any TensorSource])
        } catch let error as GraphError {
            throw error
        } catch {
            preconditionFailure("reading values in memory failed: \(error)")
        }
    }

    /// Sets variables by name, like `load(_:)`, from the sources of their values. All
    /// threads read at the same time.
    ///
    /// - Throws: ``GraphError`` as the other function; the error of a source that cannot be read.
    ///   The program has to be loaded again then before it runs.
    public func load(_ sources: [String: any TensorSource]) throws {
        try check(sources)
        try executor.load(sources)
    }

    private func check(_ sources: [String: any TensorSource]) throws(GraphError) {
        for (name, source) in sources {
            guard let buffer = variables[name], buffer.shape != source.shape else { continue }
            throw GraphError(
                operation: "load", inputShapes: [source.shape],
                reason: "variable \(name) has shape \(buffer.shape)")
        }
        if let missing = executor.released.first(where: { sources[$0] == nil }) {
            throw GraphError(
                operation: "load",
                reason: "variable \(missing) is in memory only while it is laid out; "
                    + "load it, too, or compile without releasing weights")
        }
    }

    /// Replaces some elements of a variable.
    ///
    /// - Parameters:
    ///   - scalars: the elements, row-major.
    ///   - variable: the name of a variable of rank 1 whose role is a setting: what is computed
    ///     once per load does not depend on it.
    ///   - start: the place of the first element.
    /// - Precondition: the variable has all those elements.
    package func write(_ scalars: [Float], to variable: String, at start: Int) {
        guard let buffer = variables[variable], buffer.shape.rank == 1, start >= 0,
            scalars.count <= buffer.count - start
        else { preconditionFailure("no \(scalars.count) elements at \(start) of \(variable)") }
        executor.write(
            scalars,
            to: Buffer(
                shape: [scalars.count], storage: buffer.storage, offset: buffer.offset + start))
    }

    /// The current value of a variable; nil if there is no variable with that name, or it is not
    /// kept in memory (see ``CompileOptions/releasesWeights``).
    public func value(of variable: String) -> TensorData? {
        guard !executor.released.contains(variable) else { return nil }
        return variables[variable].map {
            TensorData(shape: $0.shape, scalars: executor.read($0))
        }
    }
}

// MARK: Running

extension Program {
    /// Runs the program once.
    ///
    /// - Parameter inputs: a value for each input of the graph, row-major (for images NCHW).
    /// - Returns: the outputs by name.
    /// - Throws: ``GraphError`` if an input is missing or has another shape, or if a
    ///   ``HostOperation`` failed.
    public func run(_ inputs: [String: TensorData] = [:]) throws(GraphError) -> [String: TensorData]
    {
        try check(inputs)
        load(inputs: inputs)
        runSteps()
        return try results()
    }

    /// Runs the program once, and stops between two steps if requested. The program can
    /// be run again.
    ///
    /// - Parameters:
    ///   - inputs: as for ``run(_:)``.
    ///   - isCancelled: called before each phase of a step.
    /// - Throws: ``GraphError`` as ``run(_:)``; `CancellationError`.
    public func run(
        _ inputs: [String: TensorData], isCancelled: () -> Bool
    ) throws -> [String: TensorData] {
        try check(inputs)
        load(inputs: inputs)
        guard runSteps(isCancelled: isCancelled) else { throw CancellationError() }
        return try results()
    }

    /// Runs again without copying inputs and outputs, for measurements: what was in the inputs'
    /// memory may have been overwritten by the last run.
    package func repeatRun() throws(GraphError) {
        runSteps()
        if let failure = executor.failure { throw failure }
    }

    /// Runs with what is in the inputs' memory, without returning the results.
    ///
    /// - Returns: whether all steps were run.
    @discardableResult
    func runSteps(isCancelled: () -> Bool = { false }) -> Bool {
        var isFinished = false
        executor.exclusively {
            if isCancelled() { return }
            executor.prepare()
            isFinished = executor.run(isCancelled: isCancelled)
        }
        return isFinished
    }

    /// The outputs of the last run.
    func results() throws(GraphError) -> [String: TensorData] {
        if let failure = executor.failure { throw failure }
        var results: [String: TensorData] = [:]
        for (name, buffer) in outputs {
            results[name] = TensorData(shape: buffer.shape, scalars: executor.read(buffer))
        }
        return results
    }

    func check(_ inputs: [String: TensorData]) throws(GraphError) {
        for input in compiled.values.inputs {
            guard let data = inputs[input.name] else {
                throw GraphError(operation: "run", reason: "input \(input.name) is missing")
            }
            guard data.shape == input.buffer.shape else {
                throw GraphError(
                    operation: "run", inputShapes: [data.shape],
                    reason: "input \(input.name) has shape \(input.buffer.shape)")
            }
        }
    }

    func load(inputs: [String: TensorData]) {
        for input in compiled.values.inputs {
            if let data = inputs[input.name] { executor.write(data.scalars, to: input.buffer) }
        }
    }

    /// Calls `body` with what runs the steps, while nothing else uses the same threads or device.
    func withExecutor(_ body: (any Executor) -> Void) {
        executor.exclusively { body(executor) }
    }
}
