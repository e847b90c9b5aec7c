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
    let pool: ThreadPool
    private let compiled: CompiledGraph
    private let outputs: [(name: String, buffer: Buffer)]
    private let variables: [String: Buffer]
    private let memory: ProgramMemory
    /// The steps of a run, and those that run once per load.
    let steps: [Step]
    /// The names of the steps of a run, in order.
    private let calls: [KernelCall]
    private let preparation: Preparation
    private let fallibleKernels: [any FallibleKernel]
    /// The values at which ``start(_:)`` stops, and after which steps.
    let observations: Observations
    private var isPrepared = false

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
        pool = ThreadPool.shared(threads: options.threadCount)
        let updates = source.updates
        let passes = PassPipeline(
            options, choices: try options.tuner?.choices(for: outputs, options) ?? options.choices,
            threads: pool.threads, learns: !updates.isEmpty)
        let final = try PassPipeline.run(
            passes.graphPasses, on: source,
            roots: (outputs.map(\.value) + observed + updates.map(\.value)).map(\.id))
        let ends = outputs.map { final.ids[$0.value.id] }
        let stops = observed.map { final.ids[$0.id] }
        compiled = try Compiler.compile(
            final.graph, outputs: ends, observed: stops,
            updates: updates.compactMap { update in
                source.variable(named: update.variable).map {
                    (final.graph.apply($0.operation, []).id, final.ids[update.value.id])
                }
            }, passes: passes.stepPasses, budget: MemoryBudget(bytes: options.memoryLimit),
            on: CPUBackend(), options.communicator)
        let values = compiled.values
        self.outputs = zip(outputs, ends).map { ($0.name, values.buffer($1)) }
        observations = Observations(stops, in: compiled)
        variables = Dictionary(values.variables.map { ($0.name, $0.buffer) }) { first, _ in first }
        preparation = Preparation(compiled, releases: options.releasesWeights)
        memory = try ProgramMemory(compiled, threads: pool.threads)
        steps = compiled.steps.filter { !$0.isHoisted }
        calls = steps.flatMap { [memory, pool] step in
            KernelCall.phases(of: step.cpuKernel, threads: pool.threads, memory.workspace)
        }
        fallibleKernels = compiled.steps.compactMap { $0.kernel as? any FallibleKernel }
    }
}

// MARK: Variables

extension Program {
    /// The number of threads of a run.
    public var threads: Int { pool.threads }

    /// Bytes of intermediate results and workspace.
    public var arenaBytes: Int { memory.bytes }

    /// Names and shapes of the variables, in the order of their first use.
    public var variableShapes: [(name: String, shape: Shape)] {
        compiled.values.variables.map { ($0.name, $0.buffer.shape) }
    }

    /// Bytes of the variables.
    public var variableBytes: Int {
        compiled.values.variables.reduce(0) { $0 + $1.buffer.count } * MemoryLayout<Float>.size
    }

    /// The messages of a run to other ranks, in this order.
    package var messages: [String] {
        steps.compactMap { ($0.kernel as? any MessagingKernel)?.message }
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
        isPrepared = false
        try pool.withExclusiveUse {
            try read(preparation.kept, from: sources)
            guard !preparation.released.isEmpty else { return }
            // These share their memory with each other, and with the values of a run.
            try prepare { try read($0, from: sources) }
        }
    }

    private func check(_ sources: [String: any TensorSource]) throws(GraphError) {
        for (name, source) in sources {
            guard let buffer = variables[name], buffer.shape != source.shape else { continue }
            throw GraphError(
                operation: "load", inputShapes: [source.shape],
                reason: "variable \(name) has shape \(buffer.shape)")
        }
        if let missing = preparation.released.first(where: { sources[$0] == nil }) {
            throw GraphError(
                operation: "load",
                reason: "variable \(missing) is in memory only while it is laid out; "
                    + "load it, too, or compile without releasing weights")
        }
    }

    private func read(
        _ variables: [Preparation.VariableBuffer], from sources: [String: any TensorSource]
    ) throws {
        for (name, buffer) in variables {
            guard let source = sources[name] else { continue }
            let kernel = ReadingKernel(name, try source.opened(), into: buffer)
            execute(kernel)
            if let failure = kernel.failure { throw failure }
        }
    }

    /// The current value of a variable; nil if there is no variable with that name, or it is not
    /// kept in memory (see ``CompileOptions/releasesWeights``).
    public func value(of variable: String) -> TensorData? {
        guard !preparation.released.contains(variable) else { return nil }
        return variables[variable].map { TensorData(shape: $0.shape, scalars: $0.scalars()) }
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

    /// Runs with the inputs of the last run, without returning the results.
    ///
    /// - Returns: whether all steps were run.
    @discardableResult
    func runSteps(isCancelled: () -> Bool = { false }) -> Bool {
        var isFinished = false
        pool.withExclusiveUse {
            if isCancelled() { return }
            prepare()
            for call in calls {
                if isCancelled() { return }
                pool.run(call)
            }
            isFinished = true
        }
        return isFinished
    }

    /// The outputs of the last run.
    func results() throws(GraphError) -> [String: TensorData] {
        for kernel in fallibleKernels {
            if let failure = kernel.failure { throw failure }
        }
        var results: [String: TensorData] = [:]
        for (name, buffer) in outputs {
            results[name] = TensorData(shape: buffer.shape, scalars: buffer.scalars())
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
            if let data = inputs[input.name] { input.buffer.load(data.scalars) }
        }
    }

    /// Computes the values that depend only on variables, if those changed.
    func prepare() {
        guard !isPrepared else { return }
        prepare { _ in }
    }

    /// - Parameter read: reads variables that the next step is the first to need.
    private func prepare<Failure>(
        _ read: ([Preparation.VariableBuffer]) throws(Failure) -> Void
    ) throws(Failure) {
        for (kernel, variables) in preparation.steps {
            try read(variables)
            execute(kernel)
        }
        isPrepared = true
    }

    func execute(_ kernel: Kernel) {
        for call in KernelCall.phases(of: kernel, threads: threads, memory.workspace) {
            pool.run(call)
        }
    }
}
