internal import RetintTensors

/// Reverse-mode differentiation as a transformation of the graph: the gradients are more nodes.
///
/// - Parameters:
///   - loss: a tensor of one element.
///   - variables: the tensors to differentiate with respect to; they need not be variables.
/// - Returns: for each of `variables`, the gradient of `loss`, of the same shape; zeros where the
///   loss does not depend on it.
/// - Throws: ``GraphError`` if the graph is invalid, the loss is not one element, or an operation
///   between the variables and the loss has no gradient.
public func gradients(
    of loss: Tensor, withRespectTo variables: [Tensor]
) throws(GraphError) -> [Tensor] {
    let graph = loss.graph
    try graph.validate()
    guard loss.shape.count == 1 else {
        throw GraphError(
            operation: "gradients", inputShapes: [loss.shape],
            reason: "the loss must be one number; take its mean or sum first")
    }
    guard variables.allSatisfy({ $0.graph === graph }) else {
        throw GraphError(operation: "gradients", reason: "a variable belongs to another graph")
    }
    graph.startBackward()
    var accumulated = GradientTable(graph: graph, targets: variables)
    accumulated.add(graph.constant(TensorData(shape: loss.shape, repeating: 1)), to: loss.id)
    for id in stride(from: loss.id, through: 0, by: -1) {
        try accumulated.propagate(through: id)
    }
    try graph.validate()
    return variables.map { accumulated[$0] }
}

/// The gradients accumulated so far, by node.
private struct GradientTable {
    let graph: Graph
    /// For each node, whether it depends on one of the targets.
    let isNeeded: [Bool]
    var gradients: [Int: Tensor] = [:]

    init(graph: Graph, targets: [Tensor]) {
        self.graph = graph
        var isNeeded = [Bool](repeating: false, count: graph.nodes.count)
        for target in targets { isNeeded[target.id] = true }
        for (id, node) in graph.nodes.enumerated() where !isNeeded[id] {
            isNeeded[id] = node.inputs.contains { isNeeded[$0] }
        }
        self.isNeeded = isNeeded
    }

    subscript(tensor: Tensor) -> Tensor {
        gradients[tensor.id] ?? graph.constant(TensorData(shape: tensor.shape, repeating: 0))
    }

    mutating func add(_ gradient: Tensor, to id: Int) {
        gradients[id] = gradients[id].map { $0 + gradient } ?? gradient
    }

    mutating func propagate(through id: Int) throws(GraphError) {
        let node = graph.nodes[id]
        guard node.inputs.contains(where: { isNeeded[$0] }), let gradient = gradients[id] else {
            return
        }
        let backward = Backward(
            inputs: node.inputs.map { Tensor(graph: graph, id: $0) },
            output: Tensor(graph: graph, id: id), gradient: gradient,
            needed: node.inputs.map { isNeeded[$0] })
        let contributions: [Tensor?]
        do throws(ShapeError) {
            contributions = try graph.inModule(node.module) { () throws(ShapeError) in
                try node.operation.gradients(backward)
            }
        } catch {
            throw GraphError(
                operation: node.operation.name, module: node.module,
                inputShapes: backward.inputs.map(\.shape), reason: error.reason)
        }
        for (input, contribution) in zip(node.inputs, contributions) where isNeeded[input] {
            if let contribution { add(contribution, to: input) }
        }
    }
}
