import RetintGraph

/// The values of a graph that depend only on constants and loaded variables: they are computed
/// once per load. Each node is examined once.
final class LoadedValues {
    private let learns: Bool
    private var known: [Bool] = []

    init(learns: Bool) {
        self.learns = learns
    }

    /// - Parameter value: of the same graph at each call; the graph may have grown since.
    func contains(_ value: Tensor) -> Bool {
        guard !learns else { return false }
        while known.count <= value.id { known.append(isLoaded(value.graph.nodes[known.count])) }
        return known[value.id]
    }

    func contains(_ id: Int, of graph: Graph) -> Bool { contains(Tensor(graph: graph, id: id)) }

    private func isLoaded(_ node: Graph.Node) -> Bool {
        switch node.operation {
        case is Input: false
        case let variable as Variable: variable.role != .setting
        default: node.inputs.allSatisfy { known[$0] }
        }
    }
}
