import RetintGraph

/// Stochastic gradient descent (`torch.optim.SGD`, dampening 0).
///
/// g ← g + decay·p; b ← momentum·b + g; p ← p − rate·b, or p − rate·(g + momentum·b) after
/// Nesterov. State: `optimizer.momentum_buffer.<name>`.
public struct SGD: Optimizer, Hashable, Sendable {
    /// The share of the last change in the next one; 0 for none.
    public var momentum: Float
    /// The weight decay of groups without one.
    public var weightDecay: Float
    /// Whether momentum is Nesterov's.
    public var nesterov: Bool

    /// Creates the rule, by default that of `torch.optim.SGD`.
    ///
    /// - Parameters:
    ///   - momentum: the share of the last change in the next one, 0..<1; 0 for none.
    ///   - weightDecay: the weight decay of groups without one.
    ///   - nesterov: whether momentum is Nesterov's; without momentum it has no effect.
    public init(momentum: Float = 0, weightDecay: Float = 0, nesterov: Bool = false) {
        self.momentum = momentum
        self.weightDecay = weightDecay
        self.nesterov = nesterov
    }

    /// Records the updates of the groups' parameters, of their momentum buffers if there is
    /// momentum, and of `optimizer.step` at the end of each run. All groups are of one graph; call
    /// it once.
    public func apply(_ groups: [ParameterGroup]) {
        if let graph = groups.first?.learningRate.graph { countStep(in: graph) }
        for group in groups {
            let decay = group.weightDecay ?? weightDecay
            for (parameter, gradient) in zip(group.parameters, group.gradients) {
                let decayed = decay == 0 ? gradient : gradient + parameter * decay
                let change = momentum == 0 ? decayed : accelerated(decayed, of: parameter)
                parameter.graph.update(parameter, to: parameter - change * group.learningRate)
            }
        }
    }

    private func accelerated(_ gradient: Tensor, of parameter: Tensor) -> Tensor {
        let buffer = parameter.optimizerState("momentum_buffer")
        let next = buffer * momentum + gradient
        parameter.graph.update(buffer, to: next)
        return nesterov ? gradient + next * momentum : next
    }
}
