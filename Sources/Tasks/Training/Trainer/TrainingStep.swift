import RetintDistributed
import RetintEngine
import RetintGraph
import RetintTensors

/// One step of training as a compiled program: loss, gradients, and all variables' updates.
///
/// A step whose loss or gradient is not finite leaves all variables unchanged. With several ranks,
/// loss and gradients are over the examples of all.
final class TrainingStep {
    struct Result {
        let loss: Float
        /// The norm of all gradients of the colorizer together, before clipping; not finite if that
        /// of a network beside it is not. In a step that only accumulates, of the sum so far.
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
        /// Of a training in float16.
        var lossScale = LossScale().value
        /// The requests of this rank.
        var requests = StepRequests()
    }

    private let program: Program
    private let teacher: Teacher?
    /// Weights that are not trained: of a teacher, and of a perceptual loss; and pixels.
    private let fixedNames: Set<String>
    /// The examples of this rank.
    private let loss: Tensor
    /// How a program runs that looks for values that are not finite.
    private let searchExecution: Execution
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
    ///   - side: of a crop, in pixels.
    ///   - weights: the initial values of averaged weights.
    ///   - ranks: the ranks that split the batch.
    init(
        _ objective: Objective, _ options: StepOptions, side: Int,
        weights: [String: TensorData], ranks: Communicator = .single
    ) throws {
        let shares = BatchShares(of: options.batch, over: ranks)
        let graph = Graph(mode: .training)
        options.quantization.apply(to: graph)
        if options.synchronizesBatchNorm, ranks.size > 1 { graph.batchNormShares = shares }
        let batch = shares.own.count
        let prediction = objective.prediction(graph, shape: [batch, 1, side, side])
        if let error = graph.error {
            throw Self.problem(error, crops: batch, side: side, ranks: ranks.size)
        }
        let teaching = try options.teacher.map {
            try TeacherOutputs(of: $0, objective, prediction, options.forward)
        }
        teacher = teaching?.teacher
        let loss = try objective.loss(prediction, teacher: teaching?.tensors ?? [:])
        self.loss = loss
        let opponentVariables = objective.opponentVariables
        let opponents = Set(opponentVariables.keys)
        if let name = opponents.sorted().first(where: { weights[$0] != nil }) {
            throw TrainingError(
                at: "loss.adversarial",
                "needs the name \(name) for a discriminator, and the network has it; set it to 0")
        }
        let parameters = try options.updates.trainedParameters(of: loss, opponents: opponents)
        parameterNames = parameters.map(\.variableName)
        let scale =
            options.compile.arithmetic == .float16
            ? graph.variable(Self.lossScaleName, .scalar, role: .setting) : nil
        let shared = try SharedGradients(
            of: loss, withRespectTo: parameters, shares, options.gradientCompression,
            opponent: objective.opponentLoss(prediction).map { ($0, opponents) }, scale: scale)
        let norm = try options.updates.record(
            shared.gradients, for: parameters, opponents: opponents)
        for residual in shared.residuals { graph.update(residual.variable, to: residual.next) }
        graph.skipUpdates(
            unlessFinite: [shared.loss, norm], accumulate: options.updates.accumulate)
        (statisticNames, residualNames) = (graph.statisticNames, graph.residualNames)
        // Another network is kept like the optimizer's state: it is not part of the colorizer.
        initialOptimizerState = graph.initialOptimizerState(
            parameters: weights.merging(opponentVariables) { $1 }
        ).merging(opponentVariables) { $1 }
        (searchExecution, self.ranks) = (options.forward, ranks)
        var compile = options.compile
        compile.communicator = ranks
        let requests = shared.requests.map { [("requests", $0)] } ?? []
        program = try Program(
            outputs: [("loss", shared.loss), ("norm", norm)] + requests, options: compile)
        let fixed = objective.variables.merging(teaching?.variables ?? [:]) { $1 }
        fixedNames = Set(fixed.keys).union([StepFeed.pixels])
        try program.load(fixed)
    }

    /// Why the network cannot be trained on a batch, in terms of the configuration if the batch has
    /// too few values for batch normalization.
    private static func problem(
        _ error: GraphError, crops: Int, side: Int, ranks: Int
    ) -> any Error {
        guard error.operation == BatchMoments.name else { return error }
        let holder = ranks > 1 ? " on a rank" : ""
        return TrainingError(
            at: "batch",
            "\(crops) crop of \(side) pixels\(holder) leaves one value per channel in "
                + "\(error.module); set batch to \(2 * ranks) or more, or choose larger crops "
                + "(data.crop, data.other_crops)")
    }

    fileprivate static let lossScaleName = "loss_scale"

    /// Bytes of weights, statistics and the optimizer's state.
    var variableBytes: Int {
        program.variableShapes.filter { !fixedNames.contains($0.name) }
            .reduce(0) { $0 + $1.shape.count } * MemoryLayout<Float>.size
    }

    /// Bytes of variables, activations and gradients, without pixels.
    var bytes: Int {
        let pixels = program.variableShapes.first { $0.name == StepFeed.pixels }?.shape.count ?? 0
        return program.variableBytes + program.arenaBytes - pixels * MemoryLayout<Float>.size
    }

    /// The messages of a step to other ranks, in their order.
    var messages: [String] { program.messages }

    func load(_ variables: [String: TensorData]) throws { try program.load(variables) }

    func run(_ batch: Batch, _ settings: Settings) throws -> Result {
        try program.load(settings.variables)
        batch.store(in: program)
        let results = try program.run(try inputs(batch))
        return Result(
            loss: results["loss"]?.scalars[0] ?? .nan,
            gradientNorm: results["norm"]?.scalars[0] ?? .nan,
            requests: results["requests"].map { StepRequests(sums: $0.scalars) }
                ?? settings.requests)
    }

    private func inputs(_ batch: Batch) throws -> [String: TensorData] {
        guard let teacher else { return batch.inputs.named }
        return batch.inputs.merging(try teacher.inputs(for: batch)) { $1 }.named
    }

    /// The current values of weights, buffers and the optimizer's state.
    var variables: [String: TensorData] { values { !fixedNames.contains($0) } }

    private func values(where isWanted: (String) -> Bool) -> [String: TensorData] {
        var values: [String: TensorData] = [:]
        for (name, _) in program.variableShapes where isWanted(name) {
            values[name] = program.value(of: name)
        }
        return values
    }

    /// Describes the first operation of the forward or backward pass whose result is not finite for
    /// this batch and the current weights, on any rank; nil if there is none.
    func firstNonFinite(_ batch: Batch, _ settings: Settings) throws -> String? {
        let search = try AnomalySearch(loss, searchExecution, ranks: ranks)
        return try search.firstNonFinite(
            values { _ in true }.merging(settings.variables) { $1 }, try inputs(batch))
    }
}

extension TrainingStep.Settings {
    fileprivate var variables: [String: TensorData] {
        var values = [
            "ema_decay": TensorData(scalar: Float(averageDecay)),
            Objective.teacherShare: TensorData(scalar: Float(teacherShare)),
            "applies": TensorData(scalar: applies ? 1 : 0),
            TrainingStep.lossScaleName: TensorData(scalar: lossScale),
        ]
        values.merge(requests.variables) { $1 }
        for (group, rate) in learningRates.enumerated() {
            values[Graph.rateName(group)] = TensorData(scalar: Float(rate))
        }
        return values
    }
}
