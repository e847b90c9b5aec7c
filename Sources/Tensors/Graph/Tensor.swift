public import RetintTensors

/// A light handle on a value of a ``Graph``; copying it copies nothing.
public struct Tensor {
    /// The graph that the value belongs to.
    public let graph: Graph
    package let id: Int

    package init(graph: Graph, id: Int) {
        self.graph = graph
        self.id = id
    }

    /// The extents of the value.
    public var shape: Shape { graph.nodes[id].shape }

    /// The operation that computes this value.
    package var operation: any Operation { graph.nodes[id].operation }

    /// Applies an operation of one input to this value.
    package func applying(_ operation: some Operation) -> Tensor {
        graph.apply(operation, [self])
    }

    /// A rank-0 constant in the same graph.
    package func scalar(_ value: Float) -> Tensor {
        graph.constant(value)
    }
}

extension Tensor: CustomStringConvertible {
    /// The value's number in the graph, operation and shape: `%3 = relu [1, 64, 128, 128]`.
    public var description: String { "%\(id) = \(operation.name) \(shape)" }
}
