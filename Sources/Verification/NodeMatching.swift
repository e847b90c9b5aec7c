import Models

/// Pairs the values of two models that are the same node of one network, as checkpoints know and
/// exported packages record it. Nothing is guessed.
struct NodeMatching {
    /// Indices of values of the first and the second model.
    let pairs: [(Int, Int)]

    /// Nil unless the nodes of both models are known.
    init?(_ model: ModelProgram, _ other: ModelProgram) {
        let (first, second) = (Self.indices(model), Self.indices(other))
        guard !first.isEmpty, !second.isEmpty else { return nil }
        pairs = first.flatMap { node, own in
            // A module may run an operation several times; all of them have one name.
            guard let theirs = second[node], own.count == theirs.count else { return [(Int, Int)]() }
            return Array(zip(own, theirs))
        }
    }

    /// The values of each node; outputs are paired by their order instead.
    private static func indices(_ program: ModelProgram) -> [String: [Int]] {
        let outputs = Set(program.outputIndices.compactMap { $0 })
        var indices: [String: [Int]] = [:]
        for (index, value) in program.values.enumerated() where !outputs.contains(index) {
            if let node = value.node { indices[node, default: []].append(index) }
        }
        return indices
    }
}
