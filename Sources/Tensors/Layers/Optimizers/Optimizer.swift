import RetintGraph
import RetintTensors

/// A rule that computes new parameters from gradients, as operations of the same graph.
public protocol Optimizer {
    /// Records the updates of the groups' parameters and of the optimizer's state at the end of
    /// each run. All groups must be in the same graph; call it once.
    func apply(_ groups: [ParameterGroup])
}

/// Parameters with one learning rate (`param_groups` of `torch.optim`).
public struct ParameterGroup {
    /// Variables of the same graph.
    public var parameters: [Tensor]
    /// One for each parameter, of its shape.
    public var gradients: [Tensor]
    /// Rank 0; see `Graph.learningRate`.
    public var learningRate: Tensor
    /// The weight decay; nil for the optimizer's.
    public var weightDecay: Float?

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - parameters: variables of one graph.
    ///   - gradients: one for each parameter, of its shape, in the same order.
    ///   - learningRate: rank 0; see `Graph.learningRate`.
    ///   - weightDecay: nil for the optimizer's.
    /// - Precondition: there are as many gradients as parameters.
    public init(
        parameters: [Tensor], gradients: [Tensor], learningRate: Tensor, weightDecay: Float? = nil
    ) {
        precondition(
            parameters.count == gradients.count,
            "\(parameters.count) parameters with \(gradients.count) gradients")
        self.parameters = parameters
        self.gradients = gradients
        self.learningRate = learningRate
        self.weightDecay = weightDecay
    }
}

extension Optimizer {
    /// Records the updates of `parameters` and of the optimizer's state at the end of each run.
    ///
    /// - Parameters:
    ///   - parameters: variables of one graph.
    ///   - gradients: one for each parameter, of its shape.
    ///   - learningRate: rank 0; see `Graph.learningRate`.
    public func apply(parameters: [Tensor], gradients: [Tensor], learningRate: Tensor) {
        apply([
            ParameterGroup(
                parameters: parameters, gradients: gradients, learningRate: learningRate)
        ])
    }
}

extension Graph {
    /// The rank-0 variable with the learning rate of the next step.
    public var learningRate: Tensor { variable("learning_rate", .scalar, role: .setting) }

    /// All parameters that gradient descent can learn, in the order of first use.
    public var parameters: [Tensor] { variables(.parameter) }

    /// The optimizers' state before their first step, by name: zeros, and for averaged parameters
    /// the values in `parameters`.
    public func initialOptimizerState(
        parameters: [String: TensorData] = [:]
    ) -> [String: TensorData] {
        var state: [String: TensorData] = [:]
        // One array for all states of a shape: there are two for each parameter.
        var zeros: [Shape: TensorData] = [:]
        for variable in variables(.optimizerState) {
            let name = variable.variableName
            let start =
                name.hasPrefix(averagePrefix)
                ? parameters[String(name.dropFirst(averagePrefix.count))] : nil
            let zero = zeros[variable.shape] ?? TensorData(shape: variable.shape, repeating: 0)
            zeros[variable.shape] = zero
            state[name] = start ?? zero
        }
        return state
    }

    /// The scalar state `optimizer.<name>`.
    func optimizerScalar(_ name: String) -> Tensor {
        variable("optimizer.\(name)", .scalar, role: .optimizerState)
    }
}

extension Tensor {
    /// The name in the state dict if this is a variable, else an empty string.
    package var variableName: String { (operation as? Variable)?.variableName ?? "" }

    /// The optimizer's state `optimizer.<name>.<parameter>` for this parameter, of its shape.
    func optimizerState(_ name: String) -> Tensor {
        graph.variable("optimizer.\(name).\(variableName)", shape, role: .optimizerState)
    }
}

/// Counts steps: `optimizer.step` increases by one at the end of each run.
func countStep(in graph: Graph) {
    let step = graph.optimizerScalar("step")
    graph.update(step, to: step + 1)
}
