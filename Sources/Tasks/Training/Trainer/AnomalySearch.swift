import RetintDistributed
import RetintEngine
import RetintGraph
import RetintTensors

/// Computes a training step's loss and gradients again and checks every result, to find the first
/// one that is not finite (`torch.autograd.detect_anomaly`).
struct AnomalySearch {
    private let program: Program
    private let nodes: [Tensor]
    private let graph: Graph
    private let ranks: Communicator

    /// - Parameters:
    ///   - loss: a loss whose graph contains its gradients.
    ///   - ranks: the ranks that all search at the same time.
    init(_ loss: Tensor, _ execution: Execution, ranks: Communicator) throws {
        self.ranks = ranks
        graph = loss.graph
        let graph = graph
        let roots = [loss.id] + graph.updates.map(\.value.id)
        nodes = graph.live(from: roots).map { Tensor(graph: graph, id: $0) }
            .filter { !$0.isSource }
        var options = execution.compileOptions
        options.communicator = ranks
        program = try Program(outputs: [("loss", loss)], observing: nodes, options: options)
    }

    /// - Returns: "log in head.1, in the backward pass", or nil if all results are finite; the same
    ///   on all ranks.
    func firstNonFinite(
        _ variables: [String: TensorData], _ inputs: [String: TensorData]
    ) throws -> String? {
        try program.load(variables)
        var run = try program.start(inputs)
        var first: Int?
        while let values = run.next() {
            for value in values where !value.largestMagnitude.isFinite {
                // Steps run in the order of the graph, except for a few that are moved.
                first = min(first ?? .max, nodes[value.index].id)
            }
        }
        let all = try ranks.gather(integers: [first ?? .max]).map { $0[0] }
        guard let earliest = all.min(), earliest != .max, let rank = all.firstIndex(of: earliest)
        else { return nil }
        return describe(earliest) + (ranks.size > 1 ? ", on rank \(rank)" : "")
    }

    private func describe(_ id: Int) -> String {
        let node = graph.nodes[id]
        let module = node.module.isEmpty ? "the loss" : node.module
        let isBackward = graph.backwardStart.map { id >= $0 } ?? false
        let pass = isBackward ? "backward" : "forward"
        return "\(node.operation.name) in \(module), in the \(pass) pass"
    }
}

extension Tensor {
    fileprivate var isSource: Bool {
        operation is Variable || operation is Input || operation is Constant
            // Other ranks still add to it.
            || operation is AllReduceStart
    }
}
