/// The steps of a program and the values that they use.
package struct CompiledGraph {
    package let steps: [Step]
    package let values: ValueTable
    /// Among the steps of a run, the one that computes a node's value.
    private let computing: [Int: Int]

    /// - Parameter outputs: nodes that are read after the last step.
    package init(steps: [Step], values: ValueTable, outputs: [Int]) {
        (self.steps, self.values) = (steps, values)
        var computing: [Int: Int] = [:]
        for (index, step) in steps.lazy.filter({ !$0.isHoisted }).enumerated() {
            for id in step.writes where computing[id] == nil { computing[id] = index }
        }
        self.computing = computing
        setLifetimes(outputs: outputs)
    }

    private func setLifetimes(outputs: [Int]) {
        for (index, step) in steps.enumerated() {
            for id in step.reads + step.writes { values.buffer(id).storage.root.use(at: index) }
        }
        for input in values.inputs { input.buffer.storage.use(at: -1) }
        for id in outputs {
            values.buffer(values.origin(id)).storage.root.use(at: steps.count)
        }
    }

    /// The index of the step of a run that computes a node; nil for nodes computed
    /// before a run.
    package func runStep(computing id: Int) -> Int? { computing[values.origin(id)] }
}
