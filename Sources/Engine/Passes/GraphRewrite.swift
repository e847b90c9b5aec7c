import TensorGraph

/// A copy of what a graph's roots need, in which a rule says what each operation becomes.
struct GraphRewrite {
    let graph: Graph
    /// For each live node of the source, its value in the copy.
    private(set) var values: [Int: Tensor] = [:]
    /// The first node of the copy that belongs to the way back.
    private(set) var backwardStart: Int?

    /// - Parameters:
    ///   - backwardStart: the first node of the source that belongs to the way back.
    ///   - rule: adds what stands for an operation on these inputs to their graph.
    init(
        _ source: Graph, roots: [Int], backwardStart: Int? = nil,
        rule: @escaping (Graph, any Operation, [Tensor]) -> Tensor
    ) {
        graph = Graph(mode: source.mode)
        for id in source.live(from: roots) {
            if let backwardStart, self.backwardStart == nil, id >= backwardStart {
                self.backwardStart = graph.nodes.count
            }
            let node = source.nodes[id]
            let inputs = node.inputs.compactMap { values[$0] }
            let target = graph
            let value = { rule(target, node.operation, inputs) }
            values[id] = node.module.isEmpty ? value() : graph.inModule(node.module, value)
        }
    }

    /// What a node of the source became.
    func callAsFunction(_ id: Int) -> Int {
        guard let value = values[id] else { preconditionFailure("node \(id) was not rewritten") }
        return value.id
    }
}
