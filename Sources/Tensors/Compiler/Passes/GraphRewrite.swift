import RetintGraph

/// Copies the nodes that a graph's roots need to a new graph, replacing each operation by the
/// result of a rule.
package final class GraphRewrite {
    /// The copy.
    package let target: Graph
    private var ids: NodeMap
    private var backwardStart: Int?

    /// - Parameter rule: adds the replacement of an operation to the graph of its new inputs.
    package static func run(
        on input: GraphPassInput,
        rule: (Graph, any Operation, [Tensor]) -> Tensor
    ) -> GraphPassResult {
        run(on: input) { rewrite, id in
            let node = input.graph.nodes[id]
            return rule(rewrite.target, node.operation, node.inputs.map(rewrite.copy(of:)))
        }
    }

    /// - Parameter replacement: adds the replacement of a node of the graph of `input` to
    ///   ``target``; nil for the same operation on the copies of its inputs.
    package static func run(
        on input: GraphPassInput, replacing replacement: (GraphRewrite, Int) -> Tensor?
    ) -> GraphPassResult {
        let rewrite = GraphRewrite(of: input.graph)
        for id in input.graph.live(from: input.roots) {
            if let start = input.backwardStart, rewrite.backwardStart == nil, id >= start {
                rewrite.backwardStart = rewrite.target.nodes.count
            }
            rewrite.copy(id, input.graph.nodes[id], replacement)
        }
        return GraphPassResult(
            graph: rewrite.target, ids: rewrite.ids, backwardStart: rewrite.backwardStart)
    }

    /// - Precondition: the node comes before the one that is replaced, and a root needs it.
    package func copy(of id: Int) -> Tensor {
        Tensor(graph: target, id: ids[id])
    }

    private init(of graph: Graph) {
        target = Graph(mode: graph.mode, capacity: graph.nodes.count)
        ids = NodeMap(of: graph)
    }

    private func copy(
        _ id: Int, _ node: Graph.Node, _ replacement: (GraphRewrite, Int) -> Tensor?
    ) {
        func value() -> Tensor {
            replacement(self, id) ?? target.apply(node.operation, node.inputs.map(copy(of:)))
        }
        ids[id] = (node.module.isEmpty ? value() : target.inModule(node.module, value)).id
    }
}
