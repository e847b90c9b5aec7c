import Engine
import TensorGraph

/// Runs a training step's loss and gradients once more and looks at every result, to find where
/// numbers stop being finite (`torch.autograd.detect_anomaly`).
struct AnomalySearch {
    private let program: Program
    private let nodes: [Tensor]
    private let graph: Graph

    /// - Parameter loss: of a graph in which it was differentiated.
    init(_ loss: Tensor, threads: Int?) throws {
        graph = loss.graph
        let graph = graph
        let roots = [loss.id] + graph.updates.map(\.value.id)
        nodes = graph.live(from: roots).map { Tensor(graph: graph, id: $0) }
            .filter { !$0.isSource }
        program = try Program(
            outputs: [("loss", loss)], observing: nodes, options: CompileOptions(threads: threads))
    }

    /// - Returns: "log, in head.1, on the way back", or nil if all is finite.
    func firstNonFinite(
        _ variables: [String: TensorData], _ inputs: [String: TensorData]
    ) throws -> String? {
        try program.load(variables)
        var run = try program.start(inputs)
        var first: Int?
        while let values = run.next() {
            for value in values where !value.largestMagnitude.isFinite {
                // Steps run in the order of the graph, but for a few that are moved.
                first = min(first ?? .max, nodes[value.index].id)
            }
        }
        return first.map(describe)
    }

    private func describe(_ id: Int) -> String {
        let node = graph.nodes[id]
        let place = node.module.isEmpty ? "in the loss" : "in \(node.module)"
        let isBackward = graph.backwardStart.map { id >= $0 } ?? false
        return "\(node.operation.name) \(place), on the way \(isBackward ? "back" : "forward")"
    }
}

extension Tensor {
    fileprivate var isSource: Bool {
        operation is Variable || operation is Input || operation is Constant
    }
}
