import RetintArchitectures
import RetintDistributed
import RetintEngine
import RetintGraph
import RetintLayers
import RetintTensors

/// One step of training as a compiled program: loss, gradients, and all variables' updates.
///
/// A step whose loss or gradient is not finite leaves all variables unchanged. With several ranks,
/// loss and gradients are over the examples of all.
final class TrainingStep {
    struct Result {
        let loss: Float
        /// The norm of all gradients together, before clipping.
        let gradientNorm: Float
        /// The requests of any rank.
        let requests: StepRequests

        var isFinite: Bool { loss.isFinite && gradientNorm.isFinite }
    }

    /// The values that change from step to step, other than the batch.
    struct Settings {
        /// One for each group of parameters.
        let learningRates: [Double]
        let averageDecay, teacherShare: Double
        /// Whether weights change, or gradients are only accumulated.
        let applies: Bool
        /// The requests of this rank.
        var requests = StepRequests()
    }

    private let program: Program
    private let teacher: Teacher?
    /// The examples of this rank.
    private let loss: Tensor
    private let threads: Int?
    private let ranks: Communicator
    /// The optimizer's state and the averaged weights before the first step.
    let initialOptimizerState: [String: TensorData]
    /// The parameters that are trained.
    let parameterNames: [String]
    /// Running statistics, and their averages.
    let statisticNames: Set<String>
    /// The rounding errors of gradients, on this rank.
    let residualNames: [String]

    /// - Parameters:
    ///   - weights: the initial values of averaged weights.
    ///   - ranks: the ranks that split the batch.
    init(
        _ network: any ColorizerNetwork, _ configuration: TrainingConfiguration,
        weights: [String: TensorData], ranks: Communicator = .single
    ) throws {
        let shares = BatchShares(of: configuration.batch, over: ranks)
        let (batch, side) = (shares.own.count, configuration.data.crop)
        let graph = Graph(mode: .training)
        graph.weightRounding = configuration.quantization.rounding
        if configuration.batchNorm == .synchronized, ranks.size > 1 {
            graph.batchNormShares = shares
        }
        let objective = try Objective(network, configuration)
        let prediction = objective.steadyPrediction(graph, shape: [batch, 1, side, side])
        teacher = try configuration.distillation.teacher.map {
            try Teacher($0, configuration, batch: batch, student: prediction.colors)
        }
        loss = try Self.loss(configuration, objective, prediction, teacher)
        let parameters = try configuration.trainedParameters(of: loss)
        parameterNames = parameters.map(\.variableName)
        let shared = try SharedGradients(
            of: loss, withRespectTo: parameters, shares, configuration.gradientCompression)
        let norm = try configuration.record(shared.gradients, for: parameters)
        for residual in shared.residuals { graph.update(residual.variable, to: residual.next) }
        graph.skipUpdates(unlessFinite: [shared.loss, norm], accumulate: configuration.accumulate)
        (statisticNames, residualNames) = (graph.statisticNames, graph.residualNames)
        initialOptimizerState = graph.initialOptimizerState(parameters: weights)
        (threads, self.ranks) = (configuration.threads, ranks)
        var options = CompileOptions(threads: configuration.threads)
        options.recomputes = configuration.recompute
        options.arithmetic = configuration.compute
        let requests = shared.requests.map { [("requests", $0)] } ?? []
        program = try Program(
            outputs: [("loss", shared.loss), ("norm", norm)] + requests, options: options)
        try program.load(objective.variables)
    }

    /// The mean loss against the photo and the teacher.
    private static func loss(
        _ configuration: TrainingConfiguration, _ objective: Objective,
        _ prediction: SteadyPrediction, _ teacher: Teacher?
    ) throws -> Tensor {
        var loss = objective(prediction.colors).mean()
        if let teacher {
            let teacherLoss = try teacher.loss(of: prediction.colors)
            let share = loss.graph.variable("teacher_share", [], role: .setting)
            loss = loss + (teacherLoss - loss) * share
        }
        guard let temporalLoss = prediction.temporalLoss else { return loss }
        return loss + temporalLoss * Float(configuration.loss.temporal)
    }

    /// Bytes of variables, activations and gradients.
    var bytes: Int { program.variableBytes + program.arenaBytes }

    /// The messages of a step to other ranks, in their order.
    var messages: [String] { program.messages }

    func load(_ variables: [String: TensorData]) throws { try program.load(variables) }

    func run(_ batch: Batch, _ settings: Settings) throws -> Result {
        try program.load(settings.variables)
        let results = try program.run(try inputs(batch))
        return Result(
            loss: results["loss"]?.scalars[0] ?? .nan,
            gradientNorm: results["norm"]?.scalars[0] ?? .nan,
            requests: results["requests"].map { StepRequests(sums: $0.scalars) }
                ?? settings.requests)
    }

    private func inputs(_ batch: Batch) throws -> [String: TensorData] {
        guard let teacher else { return batch.inputs }
        return batch.inputs.merging(try teacher.inputs(for: batch)) { $1 }
    }

    /// The current values of all variables: weights, buffers and the optimizer's state.
    var variables: [String: TensorData] {
        var values: [String: TensorData] = [:]
        for (name, _) in program.variableShapes { values[name] = program.value(of: name) }
        return values
    }

    /// Describes the first operation of the forward or backward pass whose result is not finite for
    /// this batch and the current weights, on any rank; nil if there is none.
    func firstNonFinite(_ batch: Batch, _ settings: Settings) throws -> String? {
        let search = try AnomalySearch(loss, threads: threads, ranks: ranks)
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
            SharedGradients.requestsName: TensorData(shape: [2], scalars: requests.scalars),
        ]
        for (group, rate) in learningRates.enumerated() {
            values[Graph.rateName(group)] = TensorData(scalar: Float(rate))
        }
        return values
    }
}

extension TrainingConfiguration.Quantization {
    /// The rounding of weights in the graph; nil: none.
    var rounding: WeightRounding? {
        switch self {
        case .none: nil
        case .int8: WeightRounding(bits: 8)
        case .int4: WeightRounding(bits: 4)
        }
    }
}
