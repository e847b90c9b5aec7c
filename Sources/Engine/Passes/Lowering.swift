import TensorGraph

/// Rewrites a graph into the operations that the engine has kernels for.
struct Lowering {
    private let source: Graph
    private let roundsToHalf: Bool
    let graph: Graph
    /// For each live node of the source, its value in the lowered graph.
    private(set) var values: [Int: Tensor] = [:]

    /// - Parameter roots: the nodes that are needed.
    init(_ source: Graph, roots: [Int], roundsToHalf: Bool) {
        self.source = source
        self.roundsToHalf = roundsToHalf
        graph = Graph(mode: source.mode)
        for id in source.live(from: roots) {
            let node = source.nodes[id]
            let inputs = node.inputs.compactMap { values[$0] }
            values[id] = inModule(node.module) { lowered(node.operation, inputs) }
        }
    }

    private func inModule(_ module: String, _ body: () -> Tensor) -> Tensor {
        module.isEmpty ? body() : graph.inModule(module, body)
    }

    private func lowered(_ operation: any Operation, _ inputs: [Tensor]) -> Tensor {
        let value =
            (operation as? any DecomposableOperation)?.decomposed(inputs)
            ?? graph.apply(operation, inputs)
        return roundsToHalf && rounds(operation) ? value.applying(RoundToHalf()) : value
    }

    /// Moving numbers changes none of them; all else is computed anew and rounded.
    private func rounds(_ operation: any Operation) -> Bool {
        !(operation is any ViewOperation || operation is Reshape || operation is Concat
            || operation is SliceScatter)
    }
}
