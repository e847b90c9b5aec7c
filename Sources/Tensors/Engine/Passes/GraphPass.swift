import RetintGraph

/// One transformation of a graph on its way to a program: returns another graph that computes the
/// same values.
///
/// ``PassPipeline`` lists the passes in order.
protocol GraphPass {
    /// What the pass does, in a few words.
    static var name: String { get }

    func run(on input: GraphPassInput) -> GraphPassResult
}

/// What a pass gets.
struct GraphPassInput {
    let graph: Graph
    /// The nodes whose values the program has to compute.
    let roots: [Int]
    /// The first node of the backward pass; nil if the graph has none.
    let backwardStart: Int?
}

/// What a pass returns.
struct GraphPassResult {
    let graph: Graph
    /// For each node that the roots need, the node of ``graph`` that computes the same value.
    let ids: NodeMap
    /// The first node of the backward pass in ``graph``; nil if it has none.
    let backwardStart: Int?
}

/// Where the nodes of one graph are found in another.
struct NodeMap {
    private let ids: [Int: Int]

    init(_ ids: [Int: Int]) {
        self.ids = ids
    }

    /// - Precondition: the node was needed by the roots of the pass.
    subscript(id: Int) -> Int {
        guard let mapped = ids[id] else { preconditionFailure("node \(id) was not rewritten") }
        return mapped
    }

    /// This map, and then `next`.
    func then(_ next: NodeMap) -> NodeMap {
        NodeMap(ids.compactMapValues { next.ids[$0] })
    }
}
