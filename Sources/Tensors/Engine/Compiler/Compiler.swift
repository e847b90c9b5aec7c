import RetintDistributed
import RetintGraph

/// Converts a graph of operations that have kernels to steps over buffers.
struct Compiler {
    private let values: ValueTable
    private let communicator: Communicator
    private var steps: [Step] = []
    /// The step that writes a node's memory.
    private var writer: [Int: Int] = [:]

    /// Compiles a graph.
    ///
    /// - Parameters:
    ///   - outputs: nodes to be read after a run.
    ///   - observed: nodes to be read once their step is done.
    ///   - updates: variables, and the nodes that become their values.
    ///   - budget: the memory that the values may allocate.
    ///   - communicator: with whom the program exchanges messages.
    /// - Throws: ``GraphError`` if an operation has no kernel or needs other ranks, or the values
    ///   exceed the budget.
    static func compile(
        _ graph: Graph, outputs: [Int], observed: [Int],
        updates: [(variable: Int, value: Int)], passes: [any StepPass], budget: MemoryBudget,
        _ communicator: Communicator
    ) throws(GraphError) -> CompiledGraph {
        let values = try ValueTable(
            graph, roots: outputs + observed + updates.map(\.value),
            updated: updates.map(\.variable), budget)
        var compiler = Compiler(values: values, communicator)
        for group in Fusion(values).schedule(updates: updates) { try compiler.add(group) }
        var steps = VariableUpdates(compiler.steps, values).applying(updates)
        for pass in passes { steps = pass.run(on: steps, values: values) }
        return CompiledGraph(steps: steps, values: values, outputs: outputs)
    }

    private init(values: ValueTable, _ communicator: Communicator) {
        (self.values, self.communicator) = (values, communicator)
    }

    private var graph: Graph { values.graph }

    // MARK: Steps

    private mutating func add(_ group: FusionGroup) throws(GraphError) {
        guard let head = group.head else {
            let name = group.members.map { graph.nodes[$0].operation.name }.joined(separator: "+")
            return add(ElementwiseKernel(name: name, programs: [elementwiseProgram(group)]), group)
        }
        let kernel = try kernel(of: head)
        let isObserving = observe(kernel, head)
        if !group.members.isEmpty, let host = kernel as? any EpilogueKernel {
            host.epilogue = elementwiseProgram(group)
        }
        add(kernel, group, isObserving: isObserving)
    }

    private mutating func add(_ kernel: Kernel, _ group: FusionGroup, isObserving: Bool = false) {
        let inside = Set(group.nodes)
        let operands = Set(group.nodes.flatMap { graph.nodes[$0].inputs.map(values.origin) })
        let reads = operands.subtracting(inside).sorted()
        let results = group.nodes.filter { values.isNeeded($0, outside: inside) }
        // An observing kernel's input is still in cache: it does not count as traffic.
        let moved = (isObserving ? [] : reads) + results
        let modules = group.nodes.map { graph.nodes[$0].module }
        let step = Step(
            kernel: kernel,
            isHoisted: group.nodes.allSatisfy { values.hoisted.contains($0) },
            module: modules.first { !$0.isEmpty } ?? "", shape: group.shape,
            traffic: moved.reduce(0) { $0 + graph.nodes[$1].shape.count },
            nodes: inside, reads: reads,
            // A head whose raw result is not needed writes to the memory of the last member.
            writes: group.nodes.filter {
                $0 == group.head || values.isNeeded($0, outside: inside)
            })
        for id in step.writes { writer[id] = steps.count }
        steps.append(step)
    }

    /// - Throws: ``GraphError`` if the node's operation has no kernel.
    private func kernel(of id: Int) throws(GraphError) -> Kernel {
        let node = graph.nodes[id]
        let (inputs, output) = (node.inputs.map(values.buffer), values.buffer(id))
        if let kernel = OperationForms.kernel(for: node.operation, inputs: inputs, output: output) {
            return kernel
        }
        if let operation = node.operation as? any HostOperation {
            return HostKernel(operation, module: node.module, inputs: inputs, output: output)
        }
        if let operation = node.operation as? any ExchangingOperation {
            guard operation.ranks == communicator.size else {
                throw failure(
                    node,
                    "this operation is of \(operation.ranks) ranks, and the program is "
                        + "compiled for \(communicator.size); set CompileOptions.communicator")
            }
            return operation.kernel(inputs: inputs, output: output, communicator)
        }
        throw failure(
            node,
            "the engine has no kernel for this operation; "
                + "let it adopt HostOperation, or build it from other operations")
    }

    private func failure(_ node: Graph.Node, _ reason: String) -> GraphError {
        GraphError(
            operation: node.operation.name, module: node.module,
            inputShapes: node.inputs.map { graph.nodes[$0].shape }, reason: reason)
    }

    /// Lets a kernel observe the step that computes one of its inputs, if both support it and all
    /// other inputs are computed earlier.
    private mutating func observe(_ kernel: Kernel, _ id: Int) -> Bool {
        guard let observer = kernel as? any ObservingKernel else { return false }
        let inputs = graph.nodes[id].inputs
        let observed = inputs[observer.observedInput]
        let others = inputs.filter { $0 != observed }.map(values.origin)
        let shape = graph.nodes[observed].shape
        guard shape.rank == 4, values.aliases[observed] == nil, let step = writer[observed],
            steps[step].shape == shape, let host = steps[step].kernel as? any ObservableKernel,
            host.canBeObserved(channels: observer.channels),
            others.allSatisfy({ writer[$0].map { $0 < step } ?? true })
        else { return false }
        observer.isObserving = true
        host.observers.append(observer)
        steps[step].reads += others
        return true
    }

    // MARK: Elementwise work

    private func elementwiseProgram(_ group: FusionGroup) -> ElementwiseProgram {
        let inside = Set(group.nodes)
        var builder = ElementwiseBuilder(
            count: group.shape.count, head: group.head.map { ($0, values.buffer($0)) })
        if let head = group.head, let last = group.members.last,
            !values.isNeeded(head, outside: inside)
        {
            // The head writes where the last member will: it is read before it is overwritten.
            values.buffer(head).storage.host = values.buffer(last).storage
        }
        for id in group.members {
            let node = graph.nodes[id]
            builder.append(
                node.operation, id, shape: node.shape,
                inputs: node.inputs.map { ($0, values.buffer($0)) },
                target: values.isNeeded(id, outside: inside) ? values.buffer(id) : nil)
        }
        return builder.program()
    }
}
