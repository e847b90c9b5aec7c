import RetintGraph
import RetintMIL
import RetintTensors

/// A value that a model computes between its inputs and its outputs.
public struct ComputedValue: Hashable, Sendable {
    /// The value's name in a package; in a checkpoint the module's path and the operation:
    /// `model1.0.conv2d`.
    public let name: String
    /// The operation that computes it: MIL's name in a package, PyTorch's in a checkpoint.
    public let operation: String
    /// The dotted path of the module in a checkpoint; empty in a package.
    public let module: String
    /// The module path and the operation of the network's node that computes this value: ``name``
    /// in a checkpoint, the name that the export recorded in a package; nil if not recorded.
    public let node: String?
    /// The shape of the value for the inputs that the model was compiled for.
    public let shape: Shape
    /// The indices of the values that it is computed from, without the model's inputs.
    public let inputs: [Int]

    package init(
        name: String, operation: String, module: String, node: String?, shape: Shape,
        inputs: [Int]
    ) {
        self.name = name
        self.operation = operation
        self.module = module
        self.node = node
        self.shape = shape
        self.inputs = inputs
    }
}

/// A value and its tensor in the graph.
package struct TracedValue {
    package let description: ComputedValue
    package let tensor: Tensor
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

    /// All values of a network, under the names that an exported package gives them.
    func tracedValues(for outputs: [Tensor]) -> [TracedValue] {
        let ids = computed(for: outputs)
        let indices = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
        return ids.map { id in
            let node = nodes[id]
            let path = node.module.isEmpty ? [] : [node.module]
            let name = (path + [node.operation.name]).joined(separator: ".")
            let value = ComputedValue(
                name: name, operation: node.operation.name, module: node.module, node: name,
                shape: node.shape,
                inputs: node.inputs.compactMap { indices[$0] })
            return TracedValue(description: value, tensor: Tensor(graph: self, id: id))
        }
    }
}

extension RaisedModel {
    /// All values that the outputs need; a tensor with several names is listed once.
    var tracedValues: [TracedValue] {
        let live = Set(graph.computed(for: outputs.map(\.value)))
        var indices: [Int: Int] = [:]
        var traced: [TracedValue] = []
        for result in results where live.contains(result.value.id) {
            guard indices[result.value.id] == nil else { continue }
            indices[result.value.id] = traced.count
            let value = ComputedValue(
                name: result.name, operation: result.operation, module: "", node: result.node,
                shape: result.value.shape,
                inputs: result.inputs.compactMap { indices[$0.id] })
            traced.append(TracedValue(description: value, tensor: result.value))
        }
        return traced
    }
}
