import RetintArchitectures
import RetintDistributed
import RetintGraph
import RetintTensors

/// The training step, compiled for each side of crops. All share the values of
/// variables, which move from one to the next when the side changes.
final class SizedSteps {
    private let steps: [Int: TrainingStep]
    /// The step that currently has the values of variables.
    private var current: TrainingStep

    /// - Parameters: see ``TrainingStep``.
    init(
        _ network: any ColorizerNetwork, _ configuration: TrainingConfiguration,
        weights: [String: TensorData], ranks: Communicator = .single
    ) throws {
        func step(_ side: Int) throws -> TrainingStep {
            var sized = configuration
            sized.data.crop = side
            return try TrainingStep(network, sized, weights: weights, ranks: ranks)
        }
        current = try step(configuration.data.crop)
        var steps = [configuration.data.crop: current]
        for side in configuration.data.sides where steps[side] == nil {
            steps[side] = try step(side)
        }
        self.steps = steps
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
    var initialOptimizerState: [String: TensorData] { current.initialOptimizerState }
    var parameterNames: [String] { current.parameterNames }
    var statisticNames: Set<String> { current.statisticNames }
    var residualNames: [String] { current.residualNames }

    /// The messages of a step to other ranks, in their order.
    var messages: [String] { current.messages }

    /// Bytes of the variables, activations and gradients of all steps.
    var bytes: Int { steps.values.reduce(0) { $0 + $1.bytes } }
}
