import RetintGraph

/// Assigns the new values to variables: in place if possible, otherwise by copies at the end.
struct VariableUpdates {
    private var steps: [Step]
    private let values: ValueTable
    private let backend: any Backend
    /// The first step that writes a node's memory, and the last one that reads it.
    private var writer: [Int: Int] = [:]
    private var lastReader: [Int: Int] = [:]

    init(_ steps: [Step], _ values: ValueTable, _ backend: any Backend) {
        (self.steps, self.values, self.backend) = (steps, values, backend)
        for index in steps.indices { note(index) }
    }

    private mutating func note(_ index: Int) {
        for id in steps[index].writes where writer[id] == nil { writer[id] = index }
        for id in steps[index].reads { lastReader[id] = index }
    }

    /// The steps, after which each variable has its new value.
    func applying(_ updates: [(variable: Int, value: Int)]) -> [Step] {
        var result = self
        let uses = updates.reduce(into: [Int: Int]()) { $0[$1.value, default: 0] += 1 }
        for update in updates {
            let isOnlyUse = uses[update.value] == 1
            if !isOnlyUse || !result.writesInPlace(update) { result.copy(update) }
        }
        return result.steps
    }

    private mutating func copy(_ update: (variable: Int, value: Int)) {
        let (source, target) = (values.buffer(update.value), values.buffer(update.variable))
        steps.append(
            Step(
                kernel: backend.copy(source, to: target), isHoisted: false, module: "",
                shape: source.shape, traffic: 2 * source.count, nodes: [],
                reads: [values.origin(update.value)], writes: [update.variable]))
        note(steps.count - 1)
    }

    /// Lets the step that computes a new value overwrite the old one, if no later step reads
    /// the old one and the step itself reads it elementwise.
    private func writesInPlace(_ update: (variable: Int, value: Int)) -> Bool {
        let (source, target) = (values.buffer(update.value), values.buffer(update.variable))
        guard values.aliases[update.value] == nil, let step = writer[update.value],
            steps[step].kernel.mayOverwriteOperands,
            source.storage.kind == .arena, source.storage.host == nil
        else { return false }
        if let reader = lastReader[update.variable] {
            guard reader < step || reader == step && readsElementwise(update, in: steps[step])
            else { return false }
        }
        source.storage.host = target.storage
        return true
    }

    /// Whether a step uses the variable only elementwise before it writes the value.
    private func readsElementwise(_ update: (variable: Int, value: Int), in step: Step) -> Bool {
        let graph = values.graph
        let shape = graph.nodes[update.value].shape
        let readers = values.readers(of: update.variable).filter { step.nodes.contains($0) }
        // A part of the variable would be read at other elements than those that are written.
        func readsWhole(_ reader: Int) -> Bool {
            graph.nodes[reader].inputs.allSatisfy {
                values.origin($0) != update.variable
                    || graph.nodes[$0].shape.count == shape.count
            }
        }
        return graph.nodes[update.variable].shape == shape
            && readers.allSatisfy { reader in
                reader <= update.value && graph.nodes[reader].shape == shape
                    && graph.nodes[reader].operation is any ElementwiseOperation
                    && readsWhole(reader)
            }
    }
}
