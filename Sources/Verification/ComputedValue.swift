import TensorGraph

/// A value that a model computes on the way from its inputs to its outputs.
package struct ComputedValue: Hashable, Sendable {
    /// The value's name in a package; in a checkpoint the module's path and the operation:
    /// `model1.0.conv2d`.
    package let name: String
    /// What computes it: MIL's word in a package, PyTorch's in a checkpoint.
    package let operation: String
    /// The dotted path of the module in a checkpoint; empty in a package.
    package let module: String
    package let shape: Shape
    /// The values that it is computed from, by their places; inputs of the model are left out.
    package let inputs: [Int]
}

/// A value with what it stands for in the graph.
struct TracedValue {
    let description: ComputedValue
    let tensor: Tensor
}

extension Graph {
    /// The nodes that outputs need and that depend on an input, in order.
    func computed(for outputs: [Tensor]) -> [Int] {
        var depends = [Bool](repeating: false, count: nodes.count)
        for (id, node) in nodes.enumerated() {
            depends[id] = node.operation is Input || node.inputs.contains { depends[$0] }
        }
        return live(from: outputs.map(\.id)).filter {
            depends[$0] && !(nodes[$0].operation is Input)
        }
    }

    /// All that a network computes, under the names that a package of it has.
    func tracedValues(for outputs: [Tensor]) -> [TracedValue] {
        let ids = computed(for: outputs)
        let places = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
        return ids.map { id in
            let node = nodes[id]
            let path = node.module.isEmpty ? [] : [node.module]
            let value = ComputedValue(
                name: (path + [node.operation.name]).joined(separator: "."),
                operation: node.operation.name, module: node.module, shape: node.shape,
                inputs: node.inputs.compactMap { places[$0] })
            return TracedValue(description: value, tensor: Tensor(graph: self, id: id))
        }
    }
}
