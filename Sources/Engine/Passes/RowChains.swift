import TensorGraph

extension Compiler {
    /// Floats from which on a result is not left to the caches.
    private static let fewestFloats = 1 << 16

    /// Makes one step of convolutions, softmax among them, that follow each other, where each result but the last is
    /// large and needed by the next one alone.
    mutating func chainSteps() {
        var kept: [Int] = []
        for step in steps.indices {
            let last = kept.lastIndex { !steps[$0].isHoisted }
            if let last, !steps[step].isHoisted, let chain = chain(kept[last], step) {
                merge(kept[last], into: step, chain)
                kept.remove(at: last)
            }
            kept.append(step)
        }
        steps = kept.map { steps[$0] }
        stepReads = kept.map { stepReads[$0] }
        stepWrites = kept.map { stepWrites[$0] }
        stepNodes = kept.map { stepNodes[$0] }
    }

    /// The kernel that does the work of two steps; nil if each needs to be done as a whole.
    private func chain(_ first: Int, _ second: Int) -> RowChainKernel? {
        let kernel = steps[first].kernel
        let links = (kernel as? RowChainKernel)?.links ?? [kernel as? RowKernel].compactMap { $0 }
        guard let last = links.last, let next = steps[second].kernel as? RowKernel,
            last.chains, next.chains, last.leavesNothing,
            last.output.count >= Self.fewestFloats, feedsOnly(first, second)
        else { return nil }
        return RowChainKernel(links + [next])
    }

    /// The one value of a step that others read; nil if there are more.
    private func result(of step: Int) -> Int? {
        let results = stepWrites[step].filter { isNeededOutside($0, stepNodes[step]) }
        return results.count == 1 ? results[0] : nil
    }

    /// Whether a step's result is what another one's kernel convolves, and nothing else.
    private func feedsOnly(_ first: Int, _ second: Int) -> Bool {
        guard let value = result(of: first), !roots.contains(value),
            let consumers = consumers[value], consumers.count == 1, let reader = consumers.first,
            stepNodes[second].contains(reader),
            graph.nodes[reader].operation is any EpilogueHost
        else { return false }
        let inputs = graph.nodes[reader].inputs
        return inputs.first == value && !inputs.dropFirst().contains(value)
    }

    private mutating func merge(_ first: Int, into second: Int, _ chain: RowChainKernel) {
        let between = stepWrites[first]
        let size = chain.links[chain.links.count - 2].output.count
        steps[second] = Step(
            kernel: chain, isHoisted: false, module: steps[first].module,
            shape: steps[second].shape,
            traffic: steps[first].traffic + steps[second].traffic - 2 * size)
        stepReads[second] = Set(stepReads[first] + stepReads[second]).subtracting(between).sorted()
        stepNodes[second].formUnion(stepNodes[first])
    }
}
