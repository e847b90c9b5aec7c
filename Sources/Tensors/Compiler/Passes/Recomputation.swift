import RetintGraph

/// Lets the backward pass recompute large elementwise results, such as normalized activations,
/// instead of keeping them: less memory for more time.
///
/// Only results of values that the backward pass needs anyway are recomputed.
package struct Recomputation: GraphPass {
    package static let name = "recompute activations"

    package init() {}

    package func run(on input: GraphPassInput) -> GraphPassResult {
        guard let backwardStart = input.backwardStart else {
            return GraphRewrite.run(on: input) { $0.apply($1, $2) }
        }
        var copy = RecomputingCopy(input.graph, roots: input.roots, backwardStart: backwardStart)
        return copy.run()
    }
}

/// The copy of a graph that ``Recomputation`` makes.
private struct RecomputingCopy {
    private let graph: Graph
    private let source: Graph
    private let backwardStart: Int
    private let live: [Int]
    /// For each node of the source, its value in the copy.
    private var values: [Int: Tensor] = [:]
    private var consumers: [Int: [Int]] = [:]
    private var isRecomputed: Set<Int> = []
    /// For nodes that the backward pass computes again, that second value.
    private var recomputed: [Int: Tensor] = [:]
    /// Smaller results are kept.
    private static let fewestElements = 1 << 14

    init(_ source: Graph, roots: [Int], backwardStart: Int) {
        (self.source, self.backwardStart) = (source, backwardStart)
        graph = Graph(mode: source.mode)
        live = source.live(from: roots)
        for id in live {
            for input in Set(source.nodes[id].inputs) { consumers[input, default: []].append(id) }
        }
        for id in live where isSaved(id) && sources(of: id).allSatisfy(isKept) {
            isRecomputed.insert(id)
        }
    }

    mutating func run() -> GraphPassResult {
        var start: Int?
        for id in live {
            if id >= backwardStart, start == nil { start = graph.nodes.count }
            values[id] = copy(id)
        }
        var ids = NodeMap(of: source)
        for (id, value) in values { ids[id] = value.id }
        return GraphPassResult(graph: graph, ids: ids, backwardStart: start)
    }

    // MARK: Choice of recomputed values

    private func isLargeElementwise(_ id: Int) -> Bool {
        let node = source.nodes[id]
        return id < backwardStart && node.operation is any ElementwiseOperation
            && node.shape.count >= Self.fewestElements
    }

    private func isNeededByBackwardPass(_ id: Int) -> Bool {
        (consumers[id] ?? []).contains { $0 >= backwardStart }
    }

    private func isSaved(_ id: Int) -> Bool {
        isLargeElementwise(id) && isNeededByBackwardPass(id)
    }

    /// Whether a node is an intermediate result of the one node that needs it.
    private func isIntermediate(_ id: Int) -> Bool {
        isLargeElementwise(id) && (consumers[id] ?? []).count == 1
    }

    /// A node and its intermediate results, in order.
    private func expression(of id: Int) -> [Int] {
        var (nodes, open) = ([id], [id])
        while let next = open.popLast() {
            let parts = source.nodes[next].inputs.filter { isIntermediate($0) }
            nodes += parts
            open += parts
        }
        return Set(nodes).sorted()
    }

    /// The values that a node's expression is made from.
    private func sources(of id: Int) -> [Int] {
        let expression = expression(of: id)
        let inside = Set(expression)
        return expression.flatMap { source.nodes[$0].inputs }.filter { !inside.contains($0) }
    }

    /// Whether a value is available to the backward pass without additional memory.
    private func isKept(_ id: Int) -> Bool {
        let node = source.nodes[id]
        if node.inputs.isEmpty || node.shape.count < Self.fewestElements { return true }
        return isNeededByBackwardPass(id) && !isRecomputed.contains(id)
    }

    // MARK: The copy

    private mutating func copy(_ id: Int) -> Tensor {
        let node = source.nodes[id]
        let isBackward = id >= backwardStart
        var inputs: [Tensor] = []
        for input in node.inputs {
            let value =
                isBackward && isRecomputed.contains(input) ? recompute(input) : values[input]
            if let value { inputs.append(value) }
        }
        return graph.inModule(node.module) { graph.apply(node.operation, inputs) }
    }

    /// A node's value, computed in the backward pass.
    private mutating func recompute(_ id: Int) -> Tensor? {
        if let known = recomputed[id] { return known }
        let expression = expression(of: id)
        let inside = Set(expression)
        for part in expression {
            let node = source.nodes[part]
            let inputs = node.inputs.compactMap {
                inside.contains($0) ? recomputed[$0] : values[$0]
            }
            recomputed[part] = graph.inModule(node.module) {
                graph.duplicate(node.operation, inputs, node.shape)
            }
        }
        return recomputed[id]
    }
}
