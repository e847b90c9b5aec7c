import TensorGraph

/// A graph compiled for its shapes: runs many times without allocating.
///
/// A program keeps the values of its variables from run to run. It is used by one thread at a
/// time; inside, it runs on all threads of its options.
public final class Program {
    private let pool: ThreadPool
    private let compiler: Compiler
    private let outputs: [(name: String, buffer: Buffer)]
    /// What ``start(_:)`` shows, and after which step.
    private let observations: Observations
    private let variables: [String: Buffer]
    private let arena: UnsafeMutablePointer<Float>
    private let workspace: UnsafeMutablePointer<Float>
    private var isPrepared = false
    /// Work below this stays on the calling thread: waking others costs more.
    private static let smallWork = 8192

    /// Bytes of intermediate results and workspace.
    public let arenaBytes: Int

    /// Compiles what `outputs` and the graph's updates need.
    ///
    /// - Parameter observed: values that ``start(_:)`` shows on the way. Each is written to memory,
    ///   where it stands until its step is done: what is fused without them is not, which can move
    ///   a last bit.
    /// - Throws: ``GraphError`` if a rule was broken while the graph was built.
    public init(
        outputs: [(name: String, value: Tensor)], observing observed: [Tensor] = [],
        options: CompileOptions = .init()
    ) throws(GraphError) {
        guard let source = outputs.first?.value.graph else {
            throw GraphError(operation: "compile", reason: "a program needs at least one output")
        }
        try source.validate()
        let updates = source.updates
        let roots = (outputs.map(\.value) + observed + updates.map(\.value)).map(\.id)
        let lowering = GraphRewrite(
            source, roots: roots, backwardStart: source.backwardStart,
            rule: Lowering(roundsToHalf: options.roundsToHalf).callAsFunction)
        pool = ThreadPool.shared(threads: options.threads ?? ThreadPool.processorCount)
        let rule = ConvolutionChoice(
            winograd: options.winograd,
            measured: try options.tuner?.choices(for: outputs, options) ?? options.choices,
            threads: pool.threads,
            learns: !updates.isEmpty)
        let choice = GraphRewrite(
            lowering.graph, roots: roots.map { lowering($0) },
            backwardStart: lowering.backwardStart, rule: rule.callAsFunction)
        try choice.graph.validate()
        let recomputation = options.recomputes ? choice.backwardStart : nil
        let last = recomputation.map {
            Recomputation(
                choice.graph, roots: roots.map { choice(lowering($0)) }, backwardStart: $0)
        }
        let graph = last?.graph ?? choice.graph
        func final(_ tensor: Tensor) -> Int {
            let id = choice(lowering(tensor.id))
            return last?(id) ?? id
        }
        let ends = outputs.map { final($0.value) }
        let shown = observed.map { final($0) }
        compiler = Compiler(
            graph, outputs: ends, observed: shown,
            updates: updates.compactMap { update in
                let variable = source.nodes.first {
                    ($0.operation as? Variable)?.variableName == update.variable
                }
                guard let operation = variable?.operation else { return nil }
                return (graph.apply(operation, []).id, final(update.value))
            })
        let built = compiler
        self.outputs = zip(outputs, ends).compactMap { output, end in
            built.buffers[end].map { (output.name, $0) }
        }
        observations = Observations(shown, in: built)
        variables = Dictionary(compiler.variables.map { ($0.name, $0.buffer) }) { first, _ in first
        }
        let plan = MemoryPlan(compiler.placed)
        let threads = pool.threads
        let scratch = compiler.steps.map { $0.kernel.workspaceCount(threads: threads) }.max() ?? 0
        arenaBytes = (plan.count + scratch) * MemoryLayout<Float>.size
        arena = Self.allocate(plan.count)
        workspace = Self.allocate(scratch)
        for (storage, offset) in plan.offsets { storage.bind(to: arena + offset) }
        for step in compiler.steps { step.kernel.bind(threads: threads, workspace: workspace) }
    }

    deinit {
        arena.deallocate()
        workspace.deallocate()
    }

    private static func allocate(_ count: Int) -> UnsafeMutablePointer<Float> {
        let bytes = UnsafeMutableRawPointer.allocate(
            byteCount: max(count, 1) * MemoryLayout<Float>.stride, alignment: 64)
        let floats = bytes.bindMemory(to: Float.self, capacity: max(count, 1))
        floats.initialize(repeating: 0, count: max(count, 1))
        return floats
    }

    public var threads: Int { pool.threads }

    /// Names and shapes of the variables, in the order of their first use.
    public var variableShapes: [(name: String, shape: Shape)] {
        compiler.variables.map { ($0.name, $0.buffer.shape) }
    }

    /// Bytes of variables, constants and what is computed from them alone.
    public var variableBytes: Int {
        compiler.variables.reduce(0) { $0 + $1.buffer.count } * MemoryLayout<Float>.size
    }

    /// Multiply-adds of convolutions and matrix products in one run.
    public var multiplyAdds: Int {
        compiler.steps.filter { !$0.isHoisted }.reduce(0) { $0 + $1.kernel.multiplyAdds }
    }

    /// Sets variables by name; those that are not named keep their values, and names that the
    /// program does not know are ignored.
    ///
    /// - Throws: ``GraphError`` if a shape differs; nothing is changed then.
    public func load(_ values: [String: TensorData]) throws(GraphError) {
        for (name, data) in values {
            guard let buffer = variables[name], buffer.shape != data.shape else { continue }
            throw GraphError(
                operation: "load", inputShapes: [data.shape],
                reason: "variable \(name) has shape \(buffer.shape)")
        }
        for (name, data) in values { variables[name]?.load(data.scalars) }
        isPrepared = false
    }

    /// The present value of a variable; nil if there is none of that name.
    public func value(of variable: String) -> TensorData? {
        variables[variable].map { TensorData(shape: $0.shape, scalars: $0.scalars()) }
    }

    /// Runs the program once.
    ///
    /// - Parameter inputs: a value for each input of the graph, row-major (NCHW).
    /// - Returns: the outputs by name.
    /// - Throws: ``GraphError`` if an input is missing or has another shape.
    public func run(_ inputs: [String: TensorData] = [:]) throws(GraphError) -> [String: TensorData]
    {
        try check(inputs)
        pool.withExclusiveUse {
            setInputs(inputs)
            executeSteps()
        }
        return results
    }

    /// Sets the inputs, and what depends on variables alone if those changed.
    private func setInputs(_ inputs: [String: TensorData]) {
        for input in compiler.inputs {
            if let data = inputs[input.name] { input.buffer.load(data.scalars) }
        }
        prepare()
    }

    /// The outputs of the last run.
    private var results: [String: TensorData] {
        var results: [String: TensorData] = [:]
        for (name, buffer) in outputs {
            results[name] = TensorData(shape: buffer.shape, scalars: buffer.scalars())
        }
        return results
    }

    private func check(_ inputs: [String: TensorData]) throws(GraphError) {
        for input in compiler.inputs {
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

    /// Computes what depends on variables alone, if they changed.
    private func prepare() {
        guard !isPrepared else { return }
        for step in compiler.steps where step.isHoisted { execute(step.kernel) }
        isPrepared = true
    }

    /// Runs once more with the inputs of the last run, and leaves the results where they are.
    func runSteps() {
        pool.withExclusiveUse {
            prepare()
            executeSteps()
        }
    }

    /// What a run consists of, in its order.
    var stepNames: [String] {
        compiler.steps.filter { !$0.isHoisted }.map(\.kernel.name)
    }

    private func executeSteps() {
        for step in compiler.steps where !step.isHoisted { execute(step.kernel) }
    }

    private func execute(_ kernel: Kernel) {
        for phase in 0..<kernel.phases {
            var call = KernelCall(kernel: kernel, phase: phase, workspace: workspace)
            if kernel.work < Self.smallWork {
                // One thread plays all parts, so that kernels need not know.
                for thread in 0..<threads { call.run(thread: thread, threads: threads) }
            } else {
                pool.run(&call)
            }
        }
    }
}

extension Program {
    /// A run that stops where an observed value was computed; see ``ObservedRun``.
    ///
    /// - Parameter inputs: as for ``run(_:)``.
    /// - Throws: ``GraphError`` if an input is missing or has another shape.
    public func start(_ inputs: [String: TensorData]) throws(GraphError) -> ObservedRun {
        try check(inputs)
        pool.withExclusiveUse { setInputs(inputs) }
        return ObservedRun(self)
    }

    /// What is there before the first step.
    var firstObserved: [ObservedValue] { observations.atStart }

    var stepCount: Int { compiler.steps.count }

    /// Runs one step of ``start(_:)`` and gives what it computed of the observed values.
    func advance(_ step: Int) -> [ObservedValue] {
        let next = compiler.steps[step]
        if !next.isHoisted { pool.withExclusiveUse { execute(next.kernel) } }
        return observations.afterStep[step] ?? []
    }

    /// The outputs, once all steps are done.
    var observedOutputs: [String: TensorData] { results }
}

/// How long a step of a program takes.
public struct StepProfile: Sendable {
    /// The operations that run together, joined by "+".
    public let name: String
    /// The module that the first of them belongs to.
    public let module: String
    /// The shape of the result.
    public let shape: Shape
    /// The median of some runs.
    public let seconds: Double
    public let multiplyAdds: Int
    /// What has to be read and written at least: each operand and each result once.
    public let bytes: Int
}

extension Program {
    /// Runs some times and times every step; inputs keep the values of the last run.
    public func profile(runs: Int = 5) -> [StepProfile] {
        let clock = ContinuousClock()
        let steps = compiler.steps.filter { !$0.isHoisted }
        var seconds = steps.map { _ in [Double]() }
        pool.withExclusiveUse {
            prepare()
            for _ in 0..<runs {
                for (index, step) in steps.enumerated() {
                    seconds[index].append(clock.measure { execute(step.kernel) } / .seconds(1))
                }
            }
        }
        return zip(steps, seconds).map { step, seconds in
            StepProfile(
                name: step.kernel.name, module: step.module, shape: step.shape,
                seconds: seconds.sorted()[runs / 2], multiplyAdds: step.kernel.multiplyAdds,
                bytes: step.traffic * MemoryLayout<Float>.size)
        }
    }
}

extension Tensor {
    /// Computes this value on the spot: for debugging and tests, not for speed.
    ///
    /// - Parameters:
    ///   - inputs: a value for each input that this one depends on.
    ///   - variables: values of variables; zeros where there are none.
    public func evaluate(
        inputs: [String: TensorData] = [:], variables: [String: TensorData] = [:],
        options: CompileOptions = .init()
    ) throws(GraphError) -> TensorData {
        let program = try Program(outputs: [("value", self)], options: options)
        try program.load(variables)
        guard let value = try program.run(inputs)["value"] else {
            throw GraphError(operation: "evaluate", reason: "the program has no result")
        }
        return value
    }
}
