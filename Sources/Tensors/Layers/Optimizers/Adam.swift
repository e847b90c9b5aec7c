import RetintGraph

/// Adam (`torch.optim.Adam`) and AdamW (`torch.optim.AdamW`).
///
/// m ← β₁m + (1 − β₁)g; v ← β₂v + (1 − β₂)g²;
/// p ← p − rate/(1 − β₁ᵗ) · m / (√v/√(1 − β₂ᵗ) + ε).
/// State: `optimizer.exp_avg.<name>` (m), `optimizer.exp_avg_sq.<name>` (v), `optimizer.step` (t)
/// and the two bias corrections.
public struct Adam: Optimizer, Hashable, Sendable {
    // Doubles, because 1 − β of a beta near 1 would lose half of a float's digits.
    /// β₁, the decay of the mean of gradients.
    public var beta1: Double
    /// β₂, the decay of the mean of squared gradients.
    public var beta2: Double
    /// ε, added to the root in the denominator.
    public var epsilon: Float
    /// The weight decay of groups without one.
    public var weightDecay: Float
    /// Whether weight decay shrinks parameters directly (AdamW) instead of being added to the
    /// gradient.
    public var decouplesWeightDecay: Bool

    /// Creates the rule, by default that of `torch.optim.Adam`.
    ///
    /// - Parameters:
    ///   - beta1: the decay of the mean of gradients, 0..<1.
    ///   - beta2: the decay of the mean of squared gradients, 0..<1.
    ///   - epsilon: added to the root in the denominator.
    ///   - weightDecay: the weight decay of groups without one. `torch.optim.AdamW` has 0.01 by
    ///     default.
    ///   - decouplesWeightDecay: whether weight decay shrinks parameters directly (AdamW).
    public init(
        beta1: Double = 0.9, beta2: Double = 0.999, epsilon: Float = 1e-8, weightDecay: Float = 0,
        decouplesWeightDecay: Bool = false
    ) {
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.weightDecay = weightDecay
        self.decouplesWeightDecay = decouplesWeightDecay
    }

    /// Records the updates of the groups' parameters, of m, v, t and the bias corrections at the
    /// end of each run. All groups must be in the same graph; call it once.
    public func apply(_ groups: [ParameterGroup]) {
        guard let graph = groups.first?.learningRate.graph else { return }
        countStep(in: graph)
        let first = biasCorrection("bias_correction1", beta1, graph)
        let inverseRoot = 1 / sqrt(biasCorrection("bias_correction2", beta2, graph))
        for group in groups {
            let decay = group.weightDecay ?? weightDecay
            let scalars = Scalars(
                stepSize: group.learningRate / first, inverseRoot: inverseRoot,
                keep: 1 - group.learningRate * decay, decay: decay)
            for (parameter, gradient) in zip(group.parameters, group.gradients) {
                step(parameter, gradient, scalars)
            }
        }
    }

    /// The factors that all parameters of a group share, of rank 0.
    private struct Scalars {
        let stepSize, inverseRoot, keep: Tensor
        let decay: Float
    }

    private func step(_ parameter: Tensor, _ gradient: Tensor, _ scalars: Scalars) {
        let joins = scalars.decay != 0 && !decouplesWeightDecay
        let g = joins ? gradient + parameter * scalars.decay : gradient
        let (average, square) = averages(of: g, for: parameter)
        let change = average * scalars.stepSize / (sqrt(square) * scalars.inverseRoot + epsilon)
        let shrinks = scalars.decay != 0 && decouplesWeightDecay
        let start = shrinks ? parameter * scalars.keep : parameter
        parameter.graph.update(parameter, to: start - change)
    }

    private func averages(of g: Tensor, for parameter: Tensor) -> (Tensor, Tensor) {
        let average = parameter.optimizerState("exp_avg")
        let square = parameter.optimizerState("exp_avg_sq")
        let nextAverage = average + (g - average) * Float(1 - beta1)
        let nextSquare = square * Float(beta2) + g * g * Float(1 - beta2)
        parameter.graph.update(average, to: nextAverage)
        parameter.graph.update(square, to: nextSquare)
        return (nextAverage, nextSquare)
    }

    /// 1 − βᵗ of the coming step, as cₜ = (1 − β) + β·cₜ₋₁ from c₀ = 0: subtracting the power would
    /// lose most digits in the first steps.
    private func biasCorrection(_ name: String, _ beta: Double, _ graph: Graph) -> Tensor {
        let state = graph.optimizerScalar(name)
        let next = state * Float(beta) + Float(1 - beta)
        graph.update(state, to: next)
        return next
    }
}
