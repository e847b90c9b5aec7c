import RetintGraph

/// One transformation of a graph on its way to a program: returns another graph that computes the
/// same values.
///
/// ``PassPipeline`` lists the passes in order.
protocol GraphPass {
    /// A short description of the pass.
    static var name: String { get }

    func run(on input: GraphPassInput) -> GraphPassResult
}

/// The input of a pass.
struct GraphPassInput {
    let graph: Graph
    /// The nodes whose values the program must compute.
    let roots: [Int]
    /// The first node of the backward pass; nil if the graph has none.
    let backwardStart: Int?
}

/// The result of a pass.
struct GraphPassResult {
    let graph: Graph
    /// For each node that the roots need, the node of ``graph`` that computes the same value.
    let ids: NodeMap
    /// The first node of the backward pass in ``graph``; nil if it has none.
    let backwardStart: Int?
}

/// Maps the nodes of one graph to those of another.
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
