import RetintDistributed
import RetintGraph
import RetintTensors

/// The training step, compiled for each side of crops. All share the values of
/// variables, which move from one to the next when the side changes.
final class SizedSteps {
    private let steps: [Int: TrainingStep]
    /// The step that currently has the values of variables.
    private var current: TrainingStep

    /// - Parameters:
    ///   - sides: of crops, in pixels.
    ///   - weights: the initial values of averaged weights.
    ///   - ranks: those that share out the batch.
    init(
        _ objective: Objective, _ options: StepOptions, sides: [Int],
        weights: [String: TensorData], ranks: Communicator = .single
    ) throws {
        var steps: [Int: TrainingStep] = [:]
        for side in sides where steps[side] == nil {
            steps[side] = try TrainingStep(
                objective, options, side: side, weights: weights, ranks: ranks)
        }
        guard let first = sides.first, let current = steps[first] else {
            preconditionFailure("crops have no side")
        }
        (self.steps, self.current) = (steps, current)
    }

    func run(
        _ batch: Batch, _ settings: TrainingStep.Settings
    ) throws -> TrainingStep.Result {
        try step(for: batch).run(batch, settings)
    }

    /// See ``TrainingStep``.
    func firstNonFinite(_ batch: Batch, _ settings: TrainingStep.Settings) throws -> String? {
        try step(for: batch).firstNonFinite(batch, settings)
    }

    private func step(for batch: Batch) throws -> TrainingStep {
        guard let next = steps[batch.side] else {
            preconditionFailure("no step was compiled for crops of \(batch.side) pixels")
        }
        if next !== current {
            try next.load(current.variables)
            current = next
        }
        return next
    }

    // MARK: Variables, shared by all steps

    func load(_ variables: [String: TensorData]) throws { try current.load(variables) }
    var variables: [String: TensorData] { current.variables }
    var variableBytes: Int { current.variableBytes }
    var initialOptimizerState: [String: TensorData] { current.initialOptimizerState }
    var parameterNames: [String] { current.parameterNames }
    var statisticNames: Set<String> { current.statisticNames }
    var residualNames: [String] { current.residualNames }

    /// The messages of a step to other ranks, in their order.
    var messages: [String] { current.messages }

    /// Bytes of the variables, activations and gradients of all steps.
    var bytes: Int { steps.values.reduce(0) { $0 + $1.bytes } }
}
