import RetintGraph
import RetintLayers
import RetintTensors

/// Names of accumulated gradients: `optimizer.accumulated.<name>`.
private let accumulatedPrefix = "optimizer.accumulated."

/// How a step's gradients change weights.
struct UpdateOptions {
    let optimizer: TrainingConfiguration.OptimizerSettings
    /// The groups of parameters; the last one is of all that no other matches.
    let groups: [ParameterGroupRule]
    /// Patterns of parameters that are not trained, separated by spaces.
    let freeze: String?
    /// Steps whose gradients are averaged before weights change.
    let accumulate: Int

    /// The parameters to train: those that the loss depends on and that are not frozen.
    ///
    /// - Parameter opponents: the names of parameters of another network that learns beside.
    /// - Throws: ``TrainingError`` for a pattern that matches none, or if all are frozen.
    func trainedParameters(
        of loss: Tensor, opponents: Set<String> = []
    ) throws(TrainingError) -> [Tensor] {
        let live = Set(loss.graph.live(from: [loss.id]))
        let parameters = loss.graph.parameters.filter { live.contains($0.id) }
        let patterns = ParameterPattern.list(freeze ?? "")
        try Self.requireMatches(of: patterns, among: parameters, "freeze")
        let trained = parameters.filter { !patterns.matches($0) }
        guard trained.contains(where: { !opponents.contains($0.variableName) }) else {
            throw TrainingError(at: "freeze", "all parameters are frozen; leave some to train")
        }
        return trained
    }

    private static func requireMatches(
        of patterns: [ParameterPattern], among parameters: [Tensor], _ key: String
    ) throws(TrainingError) {
        for pattern in patterns where !parameters.contains(where: pattern.matches) {
            throw TrainingError(
                at: key,
                "\"\(pattern.text)\" matches no parameter; names are such as "
                    + parameters.prefix(3).map(\.variableName).joined(separator: ", "))
        }
    }

    /// Refuses a pattern whose parameters, if there are any, all belong to earlier groups.
    private func requireMembers(among parameters: [Tensor]) throws(TrainingError) {
        var rest = parameters
        for rule in groups.dropLast() {
            try Self.requireMatches(of: rule.patterns, among: parameters, "optimizer.groups")
            for pattern in rule.patterns where !rest.contains(where: pattern.matches) {
                throw TrainingError(
                    at: "optimizer.groups",
                    "earlier groups have all parameters that \"\(pattern.text)\" matches; move it "
                        + "before them, or leave it out")
            }
            rest.removeAll { rule.patterns.matches($0) }
        }
    }

    /// Adds the updates of a step to the graph: accumulate gradients, clip them, apply the
    /// optimizer, and update averaged weights.
    ///
    /// - Parameter opponents: the names of parameters of another network, which is clipped alone.
    /// - Returns: the norm of all gradients of the colorizer together, before clipping; not finite
    ///   if that of the other network is not. In a step that only accumulates, it is that of the
    ///   sum so far.
    func record(
        _ gradients: [Tensor], for parameters: [Tensor], opponents: Set<String> = []
    ) throws -> Tensor {
        let graph = parameters[0].graph
        var means = accumulate == 1 ? gradients : accumulated(gradients, for: parameters)
        var norms: [Tensor] = []
        for isOpponent in [false, true] {
            let places = parameters.indices.filter {
                opponents.contains(parameters[$0].variableName) == isOpponent
            }
            guard !places.isEmpty else { continue }
            let (clipped, norm) = clipGradNorm(
                places.map { means[$0] },
                maximum: optimizer.clipGradNorm.map { Float($0) } ?? .greatestFiniteMagnitude)
            for (place, gradient) in zip(places, clipped) { means[place] = gradient }
            norms.append(norm)
        }
        optimizer.rule.apply(try grouped(parameters, means))
        if optimizer.ema != nil { graph.averageParameters(decay: graph.averageDecay) }
        return norms.dropFirst().reduce(norms[0]) { $0 + 0 * $1 }
    }

    private func accumulated(_ gradients: [Tensor], for parameters: [Tensor]) -> [Tensor] {
        zip(gradients, parameters).map { gradient, parameter in
            let graph = parameter.graph
            let sum = graph.variable(
                accumulatedPrefix + parameter.variableName, parameter.shape, role: .optimizerState)
            let next = sum + gradient / Float(accumulate)
            graph.update(sum, to: next)
            return next
        }
    }

    private func grouped(
        _ parameters: [Tensor], _ gradients: [Tensor]
    ) throws(TrainingError) -> [ParameterGroup] {
        try requireMembers(among: parameters)
        let graph = parameters[0].graph
        var result = groups.enumerated().map { index, rule in
            ParameterGroup(
                parameters: [], gradients: [], learningRate: graph.learningRate(ofGroup: index),
                weightDecay: rule.weightDecay.map { Float($0) })
        }
        // Ranges do not decay: a range of 0 holds nothing.
        result += result.map {
            ParameterGroup(
                parameters: [], gradients: [], learningRate: $0.learningRate, weightDecay: 0)
        }
        for (parameter, gradient) in zip(parameters, gradients) {
            let isRange = InputRounding.weight(ofRange: parameter.variableName) != nil
            let group = groups.firstIndex { $0.patterns.matches(parameter) } ?? groups.count - 1
            let index = isRange ? groups.count + group : group
            result[index].parameters.append(parameter)
            result[index].gradients.append(gradient)
        }
        return result.filter { !$0.parameters.isEmpty }
    }
}

extension TrainingConfiguration.OptimizerSettings {
    fileprivate var rule: any RetintLayers.Optimizer {
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
    /// The variable of a group's learning rate, loaded before each step.
    static func rateName(_ group: Int) -> String { "learning_rate.\(group)" }

    fileprivate func learningRate(ofGroup group: Int) -> Tensor {
        variable(Self.rateName(group), .scalar, role: .setting)
    }

    /// Keeps all variables unchanged in a step where one of these scalars is not finite. In a step
    /// that only accumulates gradients, only these and the running statistics change.
    func skipUpdates(unlessFinite scalars: [Tensor], accumulate: Int) {
        let largest = Float.greatestFiniteMagnitude
        let checks = scalars.map { greaterOrEqual(largest, abs($0)) }
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

extension Graph {
    /// The running statistics that a step updates, and their averages.
    var statisticNames: Set<String> {
        let names = updates.map(\.variable)
        let statistics = Set(names.filter { variable(named: $0)?.role == .buffer })
            .subtracting(residualNames)
        return statistics.union(
            names.filter { name in statistics.contains { averageName(of: $0) == name } })
    }

    /// The variables for the rounding errors of gradients.
    var residualNames: [String] {
        updates.map(\.variable).filter { $0.hasPrefix(SharedGradients.residualPrefix) }.sorted()
    }
}

extension Tensor {
    fileprivate var role: Variable.Role? { (operation as? Variable)?.role }
}
