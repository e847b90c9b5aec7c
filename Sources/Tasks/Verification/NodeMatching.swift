import RetintRuntime

/// Pairs the values of two models that come from the same node of a network.
///
/// The nodes of a checkpoint follow from its network; an exported package records them.
struct NodeMatching {
    /// The indices of paired values: the first model's, and the second model's.
    let pairs: [(Int, Int)]

    /// Whether most nodes of one model are also the other's. An ONNX file names the nodes of the
    /// same network in its own way.
    let areOfOneNetwork: Bool

    /// Nil unless the nodes of both models are known.
    init?(_ model: ModelProgram, _ other: ModelProgram) {
        let (first, second) = (Self.indices(model), Self.indices(other))
        guard !first.isEmpty, !second.isEmpty else { return nil }
        let common = first.keys.count { second[$0] != nil }
        areOfOneNetwork = 2 * common >= min(first.count, second.count)
        pairs = first.flatMap { node, own in
            // A module may run an operation several times, always with the same name.
            guard let theirs = second[node], own.count == theirs.count else {
                return [(Int, Int)]()
            }
            return Array(zip(own, theirs))
        }
    }

    /// The indices of the values of each node, without outputs, which are paired by their order.
    private static func indices(_ program: ModelProgram) -> [String: [Int]] {
        let outputs = Set(program.outputIndices.compactMap { $0 })
        var indices: [String: [Int]] = [:]
        for (index, value) in program.values.enumerated() where !outputs.contains(index) {
            if let node = value.node { indices[node, default: []].append(index) }
        }
        return indices
    }
}
