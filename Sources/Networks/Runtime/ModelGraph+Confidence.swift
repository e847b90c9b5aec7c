import RetintGraph

extension ModelGraph {
    /// The name of the additional output.
    static let confidenceName = "retint.confidence"

    /// The same graph with an output for the network's confidence in its colors: the sum of the
    /// squared probabilities, [N, 1, h, w], of the distribution whose mean they are. Its
    /// reciprocal is the effective number of candidate colors.
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
