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
    ) async throws -> Trainer.Rehearsal {
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
    fileprivate func rehearse() throws -> Trainer.Rehearsal {
        let clock = ContinuousClock()
        var steps = Duration.zero
        for indices in source.stepsBySide(of: sampledSteps) {
            // The first step of a side also allocates memory.
            _ = try trial(step: indices[0], rate: 0)
            let other = indices[min(1, indices.count - 1)]
            steps += try clock.measure { _ = try trial(step: other, rate: 0) } * indices.count
        }
        let validation = try validator.map { validator in
            try clock.measure { _ = try validator.measure(state.validatedWeights()) { false } }
        }
        return Trainer.Rehearsal(
            overview: overview, step: steps / sampledSteps, validation: validation,
            steps: schedule.steps, validateEvery: configuration.validateEvery,
            timeLimit: configuration.timeLimit)
    }

    /// For longer trainings, the first steps show how many have crops of which side.
    private var sampledSteps: Int { min(schedule.steps, 10_000) }

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
        var settings = schedule.settings(at: index, rate: rate)
        let batch = try source.batch(step: index)
        var result: TrainingStep.Result
        repeat {
            if let scale = state.progress.lossScale { settings.lossScale = scale.value }
            result = try state.step.run(batch, settings)
        } while state.countOverflow(result)
        log.report(.step(index + 1, loss: Double(result.loss)))
        return Double(result.loss)
    }
}

extension Trainer {
    /// How long training takes, from two steps for each side of crops and one validation.
    public struct Rehearsal: Sendable {
        /// The network, the photos and the memory that a step takes.
        public let overview: Trainer.Overview
        /// The mean duration of a step.
        public let step: Duration
        /// The duration of a validation; nil without validation photos.
        public let validation: Duration?
        /// The steps of the whole training, those of all epochs if it is counted in epochs.
        public let plannedSteps: Int
        /// The steps that it takes, up to the time limit.
        public let steps: Int
        /// The estimated duration of the whole training, validations included; that of the time
        /// limit if it is reached before.
        public let total: Duration

        /// - Parameter timeLimit: in minutes.
        init(
            overview: Trainer.Overview, step: Duration, validation: Duration?, steps: Int,
            validateEvery: Int, timeLimit: Double?
        ) {
            (self.overview, self.step, self.validation) = (overview, step, validation)
            let validations = (Double(steps) / Double(validateEvery)).rounded(.up)
            let all = step * Double(steps) + (validation ?? .zero) * validations
            let limit = timeLimit.map { Duration.seconds($0 * 60) } ?? all
            total = min(all, limit)
            plannedSteps = steps
            self.steps = all > limit ? Int(Double(steps) * (limit / all)) : steps
        }
    }
}
