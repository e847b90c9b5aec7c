import Colorizers
import Engine
import Layers
import TensorGraph

/// One step of training as a compiled program: loss, gradients, and all variables' updates.
///
/// A step whose loss or gradient is not finite changes nothing.
final class TrainingStep {
    struct Result {
        let loss: Float
        /// The norm of all gradients together, before it was clipped.
        let gradientNorm: Float

        var isFinite: Bool { loss.isFinite && gradientNorm.isFinite }
    }

    /// What changes from step to step beside the batch.
    struct Settings {
        let learningRates: [Double]
        let averageDecay, teacherShare: Double
        /// Whether weights change, or gradients are only gathered.
        let applies: Bool
    }

    private let program: Program
    private let teacher: Teacher?
    private let loss: Tensor
    private let threads: Int?
    /// What the optimizer and the averages have to hold before the first step.
    let initialOptimizerState: [String: TensorData]
    /// What gradient descent learns.
    let parameterNames: [String]

    /// - Parameter weights: what the averaged weights start from.
    init(
        _ network: any ColorizerNetwork, _ configuration: TrainingConfiguration,
        weights: [String: TensorData]
    ) throws {
        let (batch, side) = (configuration.batch, configuration.data.crop)
        let graph = Graph(mode: .training)
        graph.weightRounding = configuration.quantization.rounding
        let objective = try Objective(network, configuration)
        let answer = objective.steadyPrediction(graph, shape: [batch, 1, side, side])
        teacher = try configuration.distillation.teacher.map {
            try Teacher($0, configuration, student: answer.prediction)
        }
        loss = try Self.loss(configuration, objective, answer, teacher)
        let parameters = try configuration.learned(loss)
        parameterNames = parameters.map(\.variableName)
        let found = try gradients(of: loss, withRespectTo: parameters)
        let norm = try configuration.record(found, for: parameters)
        graph.skipUpdates(unlessFinite: [loss, norm], accumulate: configuration.accumulate)
        initialOptimizerState = graph.initialOptimizerState(parameters: weights)
        threads = configuration.threads
        var options = CompileOptions(threads: configuration.threads)
        options.recomputes = configuration.recompute
        program = try Program(outputs: [("loss", loss), ("norm", norm)], options: options)
        try program.load(objective.variables)
    }

    /// The mean loss: from the photo, and from what the teacher makes of it.
    private static func loss(
        _ configuration: TrainingConfiguration, _ objective: Objective,
        _ answer: (prediction: ColorPrediction, unsteadiness: Tensor?), _ teacher: Teacher?
    ) throws -> Tensor {
        var own = objective(answer.prediction).mean()
        let graph = own.graph
        if let teacher {
            let taught = try teacher.loss(of: answer.prediction)
            let share = graph.variable("teacher_share", [], role: .setting)
            own = own + (taught - own) * share
        }
        guard let unsteadiness = answer.unsteadiness else { return own }
        return own + unsteadiness * Float(configuration.loss.temporal)
    }

    /// Bytes of variables and of what is computed on the way.
    var bytes: Int { program.variableBytes + program.arenaBytes }

    func load(_ variables: [String: TensorData]) throws { try program.load(variables) }

    func run(_ batch: Batch, _ settings: Settings) throws -> Result {
        try program.load(settings.variables)
        let results = try program.run(try inputs(batch))
        return Result(
            loss: results["loss"]?.scalars[0] ?? .nan,
            gradientNorm: results["norm"]?.scalars[0] ?? .nan)
    }

    private func inputs(_ batch: Batch) throws -> [String: TensorData] {
        guard let teacher else { return batch.inputs }
        return batch.inputs.merging(try teacher.inputs(for: batch)) { $1 }
    }

    /// The present values of all variables: weights, buffers and the optimizer's.
    var variables: [String: TensorData] {
        var values: [String: TensorData] = [:]
        for (name, _) in program.variableShapes { values[name] = program.value(of: name) }
        return values
    }

    /// Names the first operation, on the way forward and back, whose result is not finite with this
    /// batch and the present weights; nil if there is none.
    func firstNonFinite(_ batch: Batch, _ settings: Settings) throws -> String? {
        let search = try AnomalySearch(loss, threads: threads)
        return try search.firstNonFinite(
            variables.merging(settings.variables) { $1 }, try inputs(batch))
    }
}

extension TrainingStep.Settings {
    fileprivate var variables: [String: TensorData] {
        var values = [
            "ema_decay": TensorData(scalar: Float(averageDecay)),
            "teacher_share": TensorData(scalar: Float(teacherShare)),
            "applies": TensorData(scalar: applies ? 1 : 0),
        ]
        for (group, rate) in learningRates.enumerated() {
            values[Graph.rateName(group)] = TensorData(scalar: Float(rate))
        }
        return values
    }
}
