import Glibc
import RetintRuntime

extension Trainer {
    /// Builds everything, takes two steps for each side of crops and validates once to estimate how
    /// long training takes. Nothing is written.
    ///
    /// - Parameter report: called for each event, on another thread.
    /// - Throws: the errors of ``init(_:resumes:ranks:)`` and ``events()``.
    public static func rehearse(
        _ configuration: TrainingConfiguration,
        report: @escaping @Sendable (TrainingEvent) -> Void = { _ in }
    ) async throws -> TrainingRehearsal {
        try await onNewThread { _ in
            try TrainingRun(configuration, from: .trial, report: report).rehearse()
        }
    }

    /// Takes steps at rising learning rates, evenly spaced on a logarithmic scale, until the loss
    /// diverges. Nothing is written.
    ///
    /// - Parameters:
    ///   - lowest: the learning rate of the first step.
    ///   - highest: the learning rate of the last step.
    ///   - report: called for each event, on another thread.
    /// - Returns: the losses; those so far if the task is cancelled.
    /// - Throws: the errors of ``init(_:resumes:ranks:)`` and ``events()``.
    public static func learningRateRange(
        _ configuration: TrainingConfiguration, from lowest: Double = 1e-7,
        to highest: Double = 1, steps: Int = 100,
        report: @escaping @Sendable (TrainingEvent) -> Void = { _ in }
    ) async throws -> LearningRateRange {
        try await onNewThread { isCancelled in
            try TrainingRun(configuration, from: .trial, report: report)
                .learningRateRange(from: lowest, to: highest, steps: steps, isCancelled)
        }
    }
}

extension TrainingRun {
    fileprivate func rehearse() throws -> TrainingRehearsal {
        let clock = ContinuousClock()
        var steps = Duration.zero
        for indices in stepsBySide() {
            // The first step of a side also allocates memory.
            _ = try trial(step: indices[0], rate: 0)
            let other = indices[min(1, indices.count - 1)]
            steps += try clock.measure { _ = try trial(step: other, rate: 0) } * indices.count
        }
        let validation = try validator.map { validator in
            try clock.measure { _ = try validator.measure(validatedWeights()) { false } }
        }
        let step = steps / min(configuration.steps, Self.sampledSteps)
        return TrainingRehearsal(self, step: step, validation: validation)
    }

    /// For longer trainings, these first steps show how many have crops of which side.
    private static let sampledSteps = 10_000

    /// The steps of the training, those with crops of one side together.
    private func stepsBySide() -> [[Int]] {
        let seed = UInt64(configuration.seed)
        let groups = Dictionary(grouping: 0..<min(configuration.steps, Self.sampledSteps)) {
            configuration.data.side(step: $0, seed: seed)
        }
        return groups.sorted { $0.key < $1.key }.map(\.value)
    }

    fileprivate func learningRateRange(
        from lowest: Double, to highest: Double, steps: Int, _ shouldStop: () -> Bool
    ) throws -> LearningRateRange {
        var range = LearningRateRange()
        for index in 0..<max(steps, 0) where !shouldStop() {
            let share = Double(index) / Double(max(steps - 1, 1))
            let rate = lowest * pow(highest / lowest, share)
            let loss = try trial(step: index, rate: rate)
            guard range.add(rate: rate, loss: loss) else { break }
        }
        return range
    }

    /// Takes a step at a given learning rate, without a record of it.
    ///
    /// - Returns: its loss.
    private func trial(step index: Int, rate: Double) throws -> Double {
        let settings = TrainingStep.Settings(
            learningRates: groups.map { rate * $0.rate }, averageDecay: 0,
            teacherShare: configuration.teacherShare(at: index), applies: true)
        let result = try step.run(try source.batch(step: index), settings)
        report(.step(index + 1, loss: Double(result.loss)))
        return Double(result.loss)
    }
}
