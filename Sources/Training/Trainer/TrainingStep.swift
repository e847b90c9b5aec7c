import Colorizers
import Engine
import Glibc
import Layers
import TensorGraph

/// One step of training as a compiled program: loss, gradients, and all variables' updates.
final class TrainingStep {
    struct Result {
        let loss: Float
        /// The norm of all gradients together, before it was clipped.
        let gradientNorm: Float
    }

    private let program: Program
    private let teacher: Teacher?
    /// What the optimizer and the averages have to hold before the first step.
    let initialOptimizerState: [String: TensorData]
    /// What gradient descent learns.
    let parameterNames: [String]

    /// - Parameter weights: what the averaged weights start from.
    init(
        _ network: any Colorizer, _ configuration: TrainingConfiguration,
        weights: [String: TensorData]
    ) throws {
        let (batch, side) = (configuration.batch, configuration.data.crop)
        let graph = Graph(mode: .training)
        graph.weightRounding = configuration.quantization.rounding
        let ab = network(graph.input("lightness", [batch, 1, side, side]))
        teacher = try configuration.distillation.teacher.map { try Teacher($0, configuration) }
        let loss = Self.loss(configuration, ab / Batch.abScale, isTaught: teacher != nil)
        let parameters = try configuration.learned(graph.parameters)
        parameterNames = parameters.map(\.variableName)
        let (found, norm) = clipGradNorm(
            try gradients(of: loss, withRespectTo: parameters),
            maximum: configuration.optimizer.clipGradNorm.map { Float($0) }
                ?? .greatestFiniteMagnitude)
        configuration.optimizer.rule.apply(
            parameters: parameters, gradients: found, learningRate: graph.learningRate)
        if configuration.optimizer.ema != nil { graph.averageParameters(decay: graph.averageDecay) }
        initialOptimizerState = graph.initialOptimizerState(parameters: weights)
        var options = CompileOptions(threads: configuration.threads)
        options.recomputes = configuration.recompute
        program = try Program(outputs: [("loss", loss), ("norm", norm)], options: options)
    }

    /// The mean loss: from the photo, and from what the teacher makes of it.
    private static func loss(
        _ configuration: TrainingConfiguration, _ estimate: Tensor, isTaught: Bool
    ) -> Tensor {
        let graph = estimate.graph
        let own = configuration.loss(estimate, graph.input("target", estimate.shape)).mean()
        guard isTaught else { return own }
        let share = graph.variable("teacher_share", [], role: .setting)
        let taught = configuration.loss(estimate, graph.input("teacher", estimate.shape)).mean()
        return own + (taught - own) * share
    }

    /// Bytes of variables and of what is computed on the way.
    var bytes: Int { program.variableBytes + program.arenaBytes }

    func load(_ variables: [String: TensorData]) throws { try program.load(variables) }

    func run(
        _ batch: Batch, learningRate: Double, averageDecay: Double, teacherShare: Double
    ) throws -> Result {
        try program.load([
            "learning_rate": TensorData(scalar: Float(learningRate)),
            "ema_decay": TensorData(scalar: Float(averageDecay)),
            "teacher_share": TensorData(scalar: Float(teacherShare)),
        ])
        var inputs = batch.inputs
        inputs["teacher"] = try teacher?.target(for: batch)
        let results = try program.run(inputs)
        return Result(
            loss: results["loss"]?.scalars[0] ?? .nan,
            gradientNorm: results["norm"]?.scalars[0] ?? .nan)
    }

    /// The present values of all variables: weights, buffers and the optimizer's.
    var variables: [String: TensorData] {
        var values: [String: TensorData] = [:]
        for (name, _) in program.variableShapes { values[name] = program.value(of: name) }
        return values
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

extension TrainingConfiguration {
    /// The parameters that are not frozen.
    ///
    /// - Throws: ``ConfigurationError`` for a pattern that fits none, or if all are frozen.
    fileprivate func learned(_ parameters: [Tensor]) throws(ConfigurationError) -> [Tensor] {
        let patterns = (freeze ?? "").split(whereSeparator: { " ,".contains($0) }).map(String.init)
        func fits(_ pattern: String, _ parameter: Tensor) -> Bool {
            fnmatch(pattern, parameter.variableName, 0) == 0
        }
        for pattern in patterns where !parameters.contains(where: { fits(pattern, $0) }) {
            throw ConfigurationError(
                "freeze",
                "\(pattern) fits no parameter; there are such as "
                    + parameters.prefix(3).map(\.variableName).joined(separator: ", "))
        }
        let learned = parameters.filter { parameter in
            !patterns.contains { fits($0, parameter) }
        }
        guard !learned.isEmpty else {
            throw ConfigurationError("freeze", "all parameters are frozen; leave some to learn")
        }
        return learned
    }
}
