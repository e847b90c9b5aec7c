import RetintGraph

/// Copies the nodes that a graph's roots need to a new graph, replacing each operation by the
/// result of a rule.
struct GraphRewrite {
    private let graph: Graph
    /// For each copied node, its value in the copy.
    private var values: [Int: Tensor] = [:]
    private var backwardStart: Int?

    /// - Parameter rule: adds the replacement of an operation to the graph of its new inputs.
    static func run(
        on input: GraphPassInput,
        rule: @escaping (Graph, any Operation, [Tensor]) -> Tensor
    ) -> GraphPassResult {
        var rewrite = GraphRewrite(graph: Graph(mode: input.graph.mode))
        for id in input.graph.live(from: input.roots) {
            if let start = input.backwardStart, rewrite.backwardStart == nil, id >= start {
                rewrite.backwardStart = rewrite.graph.nodes.count
            }
            rewrite.copy(id, input.graph.nodes[id], rule)
        }
        return GraphPassResult(
            graph: rewrite.graph, ids: NodeMap(rewrite.values.mapValues(\.id)),
            backwardStart: rewrite.backwardStart)
    }

    private init(graph: Graph) {
        self.graph = graph
    }

    private mutating func copy(
        _ id: Int, _ node: Graph.Node,
        _ rule: @escaping (Graph, any Operation, [Tensor]) -> Tensor
    ) {
        let inputs = node.inputs.compactMap { values[$0] }
        let target = graph
        let value = { rule(target, node.operation, inputs) }
        values[id] = node.module.isEmpty ? value() : target.inModule(node.module, value)
    }
}
