import RetintGraph

/// One transformation of a graph on its way to a program: returns another graph that computes the
/// same values.
package protocol GraphPass {
    /// A short description of the pass.
    static var name: String { get }

    func run(on input: GraphPassInput) -> GraphPassResult
}

/// The input of a pass.
package struct GraphPassInput {
    package let graph: Graph
    /// The nodes whose values the program must compute.
    package let roots: [Int]
    /// The first node of the backward pass; nil if the graph has none.
    package let backwardStart: Int?

    package init(graph: Graph, roots: [Int], backwardStart: Int?) {
        (self.graph, self.roots, self.backwardStart) = (graph, roots, backwardStart)
    }
}

/// The result of a pass.
package struct GraphPassResult {
    package let graph: Graph
    /// For each node that the roots need, the node of ``graph`` that computes the same value.
    package let ids: NodeMap
    /// The first node of the backward pass in ``graph``; nil if it has none.
    package let backwardStart: Int?

    package init(graph: Graph, ids: NodeMap, backwardStart: Int?) {
        (self.graph, self.ids, self.backwardStart) = (graph, ids, backwardStart)
    }
}

/// Maps the nodes of one graph to those of another.
package struct NodeMap {
    /// For each node its image, or ``none``.
    private var ids: [Int]
    private static let none = -1

    /// Maps no node of `graph` yet.
    package init(of graph: Graph) {
        ids = Array(repeating: Self.none, count: graph.nodes.count)
    }

    /// - Precondition for reading: the node was needed by the roots of the pass.
    package subscript(id: Int) -> Int {
        get {
            precondition(ids[id] != Self.none, "node \(id) was not rewritten")
            return ids[id]
        }
        set { ids[id] = newValue }
    }

    /// This map, and then `next`.
    package func then(_ next: NodeMap) -> NodeMap {
        var result = self
        for (id, image) in ids.enumerated() where image != Self.none {
            result.ids[id] = next.ids[image]
        }
        return result
    }
}
