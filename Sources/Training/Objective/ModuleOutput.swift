import TensorGraph

extension Graph {
    /// What a module gave: the last that was added in it. Nil where there is no such module.
    func output(ofModule path: String) -> Tensor? {
        nodes.lastIndex { $0.module == path || $0.module.hasPrefix(path + ".") }
            .map { Tensor(graph: self, id: $0) }
    }
}
