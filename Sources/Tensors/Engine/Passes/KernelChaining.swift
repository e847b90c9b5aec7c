import RetintCompiler
import RetintGraph

/// Joins consecutive kernels, convolutions and softmax, into one step, if every result except
/// the last is needed only by the next kernel. Large results are passed on by rows.
/// Smaller ones stay in the caches anyway, but often in the cache of another core: they, and those
/// of few rows, are passed on by channels if the next kernel does not mix channels.
struct KernelChaining: StepPass {
    static let name = "chain kernels"

    /// Results of fewer floats are not passed on by rows.
    private static let fewestFloats = 1 << 16
    /// The fewest rows of a result that is passed on by rows, for each row that two parts of the
    /// next one both need, and that is therefore computed twice.
    private static let rowsPerOverlap = 16
    /// Chains of more links gain nothing.
    private static let mostLinks = 256

    func run(on steps: [Step], values: ValueTable) -> [Step] {
        var result: [Step?] = []
        /// The last step in `result` that is part of a run.
        var last: Int?
        for step in steps {
            var step = step
            if let previous = last, let first = result[previous], !step.isHoisted,
                let chained = chain(first, step, values)
            {
                step = chained
                result[previous] = nil
            }
            if !step.isHoisted { last = result.count }
            result.append(step)
        }
        return result.compactMap { $0 }
    }

    /// One step that does the work of two; nil if each must be completed separately.
    private func chain(_ first: Step, _ second: Step, _ values: ValueTable) -> Step? {
        guard let start = first.kernel as? any ChainableKernel,
            let end = second.kernel as? any ChainableKernel, let last = start.links.last,
            let next = end.links.first, last.output.shape == next.x.shape,
            start.links.count < Self.mostLinks, last.finishesAnywhere,
            feedsOnly(first, second, values)
        else { return nil }
        if last.output.count >= Self.fewestFloats,
            next.overlap * Self.rowsPerOverlap <= last.rowCount
        {
            return joined(
                first, second, RowChainKernel(start.links + end.links), passing: [],
                traffic: -2 * last.output.count)
        }
        guard let kernel = ChannelChainKernel(start.links, end.links) else { return nil }
        return joined(
            first, second, kernel, passing: first.writes, traffic: -last.output.count)
    }

    /// - Parameters:
    ///   - passed: the results that the first step still writes to memory.
    ///   - traffic: the elements that are no longer read or written.
    private func joined(
        _ first: Step, _ second: Step, _ kernel: Kernel, passing passed: [Int], traffic: Int
    ) -> Step {
        Step(
            kernel: kernel, isHoisted: false, module: first.module, shape: second.shape,
            traffic: first.traffic + second.traffic + traffic,
            nodes: first.nodes.union(second.nodes),
            reads: Set(first.reads + second.reads).subtracting(first.writes).sorted(),
            writes: passed + second.writes)
    }

    /// Whether a step's result is only the input of another step's convolution.
    private func feedsOnly(_ first: Step, _ second: Step, _ values: ValueTable) -> Bool {
        guard let value = result(of: first, values), !values.roots.contains(value),
            let consumers = values.consumers[value], consumers.count == 1,
            let reader = consumers.first, second.nodes.contains(reader),
            values.graph.nodes[reader].operation is any EpilogueOperation
        else { return false }
        let inputs = values.graph.nodes[reader].inputs
        return inputs.first == value && !inputs.dropFirst().contains(value)
    }

    /// The one value of a step that others read; nil if there are more.
    private func result(of step: Step, _ values: ValueTable) -> Int? {
        let results = step.writes.filter { values.isNeeded($0, outside: step.nodes) }
        return results.count == 1 ? results[0] : nil
    }
}
