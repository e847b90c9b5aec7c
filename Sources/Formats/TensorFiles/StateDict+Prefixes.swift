package import RetintTensors

extension StateDict {
    /// The prefix under which a file has all tensors of a network, if it has none of them under
    /// their own names: such as `model.` in checkpoints of Lightning, whose module has the network
    /// as an attribute. Nil if there is none, or if there are several, such as `netG.` and
    /// `ema.netG.`.
    ///
    /// - Parameters:
    ///   - network: the tensors that the network has.
    /// - Complexity: linear in the names of the file.
    package func prefix(of network: [(name: String, shape: Shape)]) -> String? {
        guard let first = network.first?.name else { return nil }
        let names = Set(self.names).union(unread.keys)
        guard !network.contains(where: { names.contains($0.name) }) else { return nil }
        let prefixes = names.filter { $0.hasSuffix(".\(first)") }
            .map { String($0.dropLast(first.count)) }
            .filter { prefix in network.allSatisfy { names.contains(prefix + $0.name) } }
        return prefixes.count == 1 ? prefixes[0] : nil
    }

    /// The tensors whose names have a prefix, without it, and all others as they are.
    package func removing(prefix: String) -> StateDict {
        func shorter(_ name: String) -> String {
            name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
        }
        var result = StateDict()
        for (name, tensor) in self { result[shorter(name)] = tensor }
        // A tensor without the prefix may have the name that another one has without it.
        result.unread = Dictionary(unread.map { (shorter($0.key), $0.value) }) { first, _ in first }
        return result
    }
}
