import RetintGraph
import RetintTensors

/// A stored tensor of a network: a weight, or a buffer such as a running mean.
///
/// It has no values: they are in the program that runs the graph, under ``name``.
public final class Parameter {
    /// Its shape.
    public let shape: Shape
    /// `.parameter` for values learned by gradient descent, `.buffer` for others.
    public let role: Variable.Role
    /// The distribution of its initial values.
    public let initializer: Initializer
    /// The name in the state dict; `nil` until ``Module/assignNames()`` has run.
    public internal(set) var name: String?

    /// Creates a parameter without a name, which ``Module/assignNames()`` gives it.
    ///
    /// - Parameters:
    ///   - shape: its shape, each extent at least 1.
    ///   - role: `.parameter` for values learned by gradient descent, `.buffer` for others.
    ///   - initializer: the distribution of its initial values.
    public init(
        _ shape: Shape, role: Variable.Role = .parameter, initializer: Initializer
    ) {
        self.shape = shape
        self.role = role
        self.initializer = initializer
    }

    /// This parameter's variable in `graph`.
    public func tensor(in graph: Graph) -> Tensor {
        if name == nil {
            let reason = "a parameter has no name yet; call assignNames() on the whole network"
            graph.record(ShapeError(reason), "variable", [shape])
        }
        return graph.variable(name ?? "", shape, role: role)
    }

    /// This parameter as the weight of a layer in `graph`, rounded if the graph trains for
    /// quantized weights (`Graph.weightRounding`).
    ///
    /// - Parameter outputAxis: the axis of the output channels.
    public func weight(in graph: Graph, outputAxis: Int = 0) -> Tensor {
        tensor(in: graph).roundedAsWeight(outputAxis: outputAxis)
    }

    /// The input of the layer whose weight this parameter is, rounded if the graph rounds inputs
    /// (`Graph.inputRounding`).
    public func input(_ x: Tensor) -> Tensor { x.roundedAsInput(of: name ?? "") }
}

extension Tensor {
    /// This weight of a layer, rounded if its graph trains for quantized weights.
    ///
    /// - Parameter outputAxis: the axis of the output channels.
    package func roundedAsWeight(outputAxis: Int) -> Tensor {
        guard let rounding = graph.weightRounding, shape.count > rounding.threshold else {
            return self
        }
        return fakeQuantized(bits: rounding.bits, axis: outputAxis)
    }
}

/// Parameters of a module whose names do not follow from its properties, such as those of a
/// network that was read from a file.
public struct NamedParameters {
    /// The names, which are not changed, and the parameters, in the order of the state dict.
    public let entries: [(name: String, parameter: Parameter)]

    /// - Parameter entries: unique names, with a parameter for each.
    public init(_ entries: [(name: String, parameter: Parameter)]) {
        self.entries = entries
    }
}

/// An integer of PyTorch's state dict that no computation uses, such as `num_batches_tracked`: it
/// is listed, loaded and saved, but is not a variable of the graph.
public final class Counter {
    /// The name in the state dict; `nil` until ``Module/assignNames()`` has run.
    public internal(set) var name: String?

    /// Creates a counter without a name, which ``Module/assignNames()`` gives it.
    public init() {}
}
