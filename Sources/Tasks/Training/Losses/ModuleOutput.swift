import RetintGraph
import RetintTensors

extension Graph {
    /// The output of a module: the last node added in it that is not only part of an update, such
    /// as that of the running statistics of a batch normalization. Nil if there is no such module.
    func output(ofModule path: String) -> Tensor? {
        let added = nodes.indices.filter {
            nodes[$0].module == path || nodes[$0].module.hasPrefix(path + ".")
        }
        guard let first = added.first else { return nil }
        let partsOfUpdates = partsOfUpdates(from: first)
        return added.last { !partsOfUpdates.contains($0) }.map { Tensor(graph: self, id: $0) }
    }

    /// The nodes, from a first one on, that only contribute to updates.
    private func partsOfUpdates(from first: Int) -> Set<Int> {
        var parts = Set(updates.map { $0.value.id })
        var users = [Int: [Int]]()
        for id in (first..<nodes.count).reversed() {
            if let users = users[id], parts.isSuperset(of: users) { parts.insert(id) }
            for input in nodes[id].inputs { users[input, default: []].append(id) }
        }
        return parts
    }
}
