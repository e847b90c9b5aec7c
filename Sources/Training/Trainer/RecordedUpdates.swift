import Layers
import TensorGraph

/// Where gathered gradients live: `optimizer.accumulated.<name>`.
private let accumulatedPrefix = "optimizer.accumulated."

extension TrainingConfiguration {
    /// The parameters that are learned: those that the loss depends on and that are not frozen.
    ///
    /// - Throws: ``ConfigurationError`` for a pattern that fits none, or if all are frozen.
    func learned(_ loss: Tensor) throws(ConfigurationError) -> [Tensor] {
        let live = Set(loss.graph.live(from: [loss.id]))
        let parameters = loss.graph.parameters.filter { live.contains($0.id) }
        let patterns = (freeze ?? "").split(whereSeparator: { " ,".contains($0) })
            .map { ParameterGroupRule(pattern: String($0), schedule: schedule) }
        try Self.requireUse(of: patterns, among: parameters, "freeze")
        let learned = parameters.filter { parameter in
            !patterns.contains { $0.fits(parameter) }
        }
        guard !learned.isEmpty else {
            throw ConfigurationError("freeze", "all parameters are frozen; leave some to learn")
        }
        return learned
    }

    private static func requireUse(
        of patterns: [ParameterGroupRule], among parameters: [Tensor], _ key: String
    ) throws(ConfigurationError) {
        for rule in patterns where !parameters.contains(where: rule.fits) {
            throw ConfigurationError(
                key,
                "\(rule.pattern) fits no parameter; there are such as "
                    + parameters.prefix(3).map(\.variableName).joined(separator: ", "))
        }
    }

    /// The groups of ``Optimizer/groups``, and the rest as the last.
    func groupRules() throws(ConfigurationError) -> [ParameterGroupRule] {
        let rest = ParameterGroupRule(pattern: "*", schedule: schedule)
        guard let groups = optimizer.groups else { return [rest] }
        return try ParameterGroupRule.list(groups, schedule: schedule) + [rest]
    }

    /// Records what a step does with gradients: gather, clip, and let the optimizer and the
    /// averages follow.
    ///
    /// - Returns: the norm of all gradients together, before it is clipped.
    func record(_ gradients: [Tensor], for parameters: [Tensor]) throws -> Tensor {
        let graph = parameters[0].graph
        let gathered = accumulate == 1 ? gradients : gather(gradients, for: parameters)
        let (clipped, norm) = clipGradNorm(
            gathered, maximum: optimizer.clipGradNorm.map { Float($0) } ?? .greatestFiniteMagnitude)
        optimizer.rule.apply(try groups(parameters, clipped))
        if optimizer.ema != nil { graph.averageParameters(decay: graph.averageDecay) }
        return norm
    }

    private func gather(_ gradients: [Tensor], for parameters: [Tensor]) -> [Tensor] {
        zip(gradients, parameters).map { gradient, parameter in
            let graph = parameter.graph
            let sum = graph.variable(
                accumulatedPrefix + parameter.variableName, parameter.shape, role: .optimizerState)
            let next = sum + gradient / Float(accumulate)
            graph.update(sum, to: next)
            return next
        }
    }

    private func groups(_ parameters: [Tensor], _ gradients: [Tensor]) throws -> [ParameterGroup] {
        let rules = try groupRules()
        try Self.requireUse(of: rules.dropLast(), among: parameters, "optimizer.groups")
        let graph = parameters[0].graph
        var groups = rules.enumerated().map { place, rule in
            ParameterGroup(
                parameters: [], gradients: [], learningRate: graph.learningRate(ofGroup: place),
                weightDecay: rule.weightDecay.map { Float($0) })
        }
        for (parameter, gradient) in zip(parameters, gradients) {
            let place = rules.firstIndex { $0.fits(parameter) } ?? rules.count - 1
            groups[place].parameters.append(parameter)
            groups[place].gradients.append(gradient)
        }
        return groups
    }
}

extension TrainingConfiguration.Optimizer {
    var rule: any Layers.Optimizer {
        let decay = Float(weightDecay)
        switch kind {
        case .sgd: return SGD(momentum: Float(momentum), weightDecay: decay)
        case .adam, .adamw:
            return Adam(
                beta1: beta1, beta2: beta2, epsilon: Float(epsilon), weightDecay: decay,
                decouplesWeightDecay: kind == .adamw)
        }
    }
}

extension Graph {
    /// The learning rate of a group of parameters, to be loaded before each step.
    static func rateName(_ group: Int) -> String { "learning_rate.\(group)" }

    fileprivate func learningRate(ofGroup group: Int) -> Tensor {
        variable(Self.rateName(group), .scalar, role: .setting)
    }

    /// Lets all variables stay as they are in a step where one of these numbers is not finite, and
    /// all but gathered gradients and running statistics where gradients are only gathered.
    func skipUpdates(unlessFinite numbers: [Tensor], accumulate: Int) {
        let largest = Float.greatestFiniteMagnitude
        let checks = numbers.map { greaterOrEqual(largest, abs($0)) }
        let isFinite = checks.dropFirst().reduce(checks[0], *)
        let applies = accumulate == 1 ? nil : variable("applies", .scalar, role: .setting)
        let isStep = applies.map { isFinite * $0 } ?? isFinite
        mapUpdates { old, new in
            if let applies, old.variableName.hasPrefix(accumulatedPrefix) {
                return select(applies, constant(0), select(isFinite, new, old))
            }
            return select(old.role == .buffer ? isFinite : isStep, new, old)
        }
    }
}

extension Tensor {
    fileprivate var role: Variable.Role? { (operation as? Variable)?.role }
}
