import RetintDistributed
import RetintGraph

/// Converts a graph of operations that have kernels to steps over buffers.
package struct Compiler {
    private let values: ValueTable
    private let backend: any Backend
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
    ///   - backend: what has kernels for the operations.
    ///   - communicator: with whom the program exchanges messages.
    /// - Throws: ``GraphError`` if an operation has no kernel or needs other ranks, or the values
    ///   exceed the budget.
    package static func compile(
        _ graph: Graph, outputs: [Int], observed: [Int],
        updates: [(variable: Int, value: Int)], passes: [any StepPass], budget: MemoryBudget,
        on backend: any Backend, _ communicator: Communicator
    ) throws(GraphError) -> CompiledGraph {
        let values = try ValueTable(
            graph, roots: outputs + observed + updates.map(\.value),
            updated: updates.map(\.variable), budget)
        var compiler = Compiler(values: values, backend, communicator)
        for group in Fusion(values, backend).schedule(updates: updates) { try compiler.add(group) }
        var steps = VariableUpdates(compiler.steps, values, backend).applying(updates)
        for pass in passes { steps = pass.run(on: steps, values: values) }
        return CompiledGraph(steps: steps, values: values, outputs: outputs)
    }

    private init(values: ValueTable, _ backend: any Backend, _ communicator: Communicator) {
        (self.values, self.backend, self.communicator) = (values, backend, communicator)
    }

    private var graph: Graph { values.graph }

    // MARK: Steps

    private mutating func add(_ group: FusionGroup) throws(GraphError) {
        guard let head = group.head else {
            return add(backend.kernel(of: elementwiseWork(group)), group)
        }
        let kernel = try kernel(of: head)
        let isObserving = observe(kernel, head)
        if !group.members.isEmpty { backend.append(elementwiseWork(group), to: kernel) }
        add(kernel, group, isObserving: isObserving)
    }

    private mutating func add(
        _ kernel: any StepKernel, _ group: FusionGroup, isObserving: Bool = false
    ) {
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

    /// - Throws: ``GraphError`` if the backend has no kernel for the node's operation.
    private func kernel(of id: Int) throws(GraphError) -> any StepKernel {
        let node = graph.nodes[id]
        return try backend.kernel(
            of: node, inputs: node.inputs.map(values.buffer), output: values.buffer(id),
            communicator)
    }

    /// Lets a kernel observe the step that computes one of its inputs, if both can and all other
    /// inputs are computed earlier.
    private mutating func observe(_ kernel: any StepKernel, _ id: Int) -> Bool {
        guard let operand = backend.observableOperand(of: kernel) else { return false }
        let inputs = graph.nodes[id].inputs
        let observed = inputs[operand]
        let others = inputs.filter { $0 != observed }.map(values.origin)
        let shape = graph.nodes[observed].shape
        guard shape.rank == 4, values.aliases[observed] == nil, let step = writer[observed],
            steps[step].shape == shape,
            others.allSatisfy({ writer[$0].map { $0 < step } ?? true }),
            backend.observe(steps[step].kernel, by: kernel)
        else { return false }
        steps[step].reads += others
        return true
    }

    // MARK: Elementwise work

    private func elementwiseWork(_ group: FusionGroup) -> ElementwiseWork {
        let inside = Set(group.nodes)
        let head = group.head.map { (node: $0, buffer: values.buffer($0)) }
        if let head, let last = group.members.last, !values.isNeeded(head.node, outside: inside) {
            // The head writes where the last member will: it is read before it is overwritten.
            head.buffer.storage.host = values.buffer(last).storage
        }
        return ElementwiseWork(
            name: group.members.map { graph.nodes[$0].operation.name }.joined(separator: "+"),
            shape: group.shape, head: head,
            members: group.members.map { id in
                let node = graph.nodes[id]
                return ElementwiseWork.Member(
                    id: id, operation: node.operation,
                    inputs: node.inputs.map { ($0, values.buffer($0)) },
                    target: values.isNeeded(id, outside: inside) ? values.buffer(id) : nil)
            })
    }
}
