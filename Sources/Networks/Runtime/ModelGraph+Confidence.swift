import RetintGraph

extension ModelGraph {
    /// The name of the additional output.
    static let confidenceName = "retint.confidence"

    /// The same graph with an output that says how sure a network is of its colors: the sum of the
    /// squared probabilities, [N, 1, h, w], of the distribution that they are the mean of. Its
    /// reciprocal is the number of colors among which the network hesitates.
    ///
    /// - Returns: nil if the network has no such distribution.
    func addingConfidence() -> ModelGraph? {
        let live = graph.live(from: outputs.map(\.value.id))
        guard let id = live.last(where: { graph.nodes[$0].isDistribution }) else { return nil }
        let probabilities = Tensor(graph: graph, id: id)
        let confidence = (probabilities * probabilities).sum(axes: [1], keepDims: true)
        return replacingOutputs(with: outputs + [(Self.confidenceName, confidence)])
    }
}

extension Graph.Node {
    /// Whether it is a softmax over the channels of planes.
    fileprivate var isDistribution: Bool {
        guard let axis = (operation as? Softmax)?.axis else { return false }
        return [1, -3].contains(axis) && shape.rank == 4 && shape[2] > 1 && shape[3] > 1
    }
}
