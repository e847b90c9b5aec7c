import TensorGraph

extension Graph {
    /// The output of a module: the last node added in it. Nil if there is no such module.
    func output(ofModule path: String) -> Tensor? {
        nodes.lastIndex { $0.module == path || $0.module.hasPrefix(path + ".") }
            .map { Tensor(graph: self, id: $0) }
    }
}
