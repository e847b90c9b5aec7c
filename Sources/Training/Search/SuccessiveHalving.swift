/// Trains candidates by successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm
/// Identification and Hyperparameter Optimization", 2016): all for a few steps, the better half for
/// twice as many, and so on until the last round, which goes to the end.
package struct SuccessiveHalving {
    /// A configuration under trial.
    package struct Candidate: Sendable {
        /// What tells it from the others: the settings it was made by.
        package let name: String
        package var configuration: TrainingConfiguration

        package init(name: String, configuration: TrainingConfiguration) {
            (self.name, self.configuration) = (name, configuration)
        }
    }

    package struct Outcome: Sendable {
        package let candidate: Candidate
        /// Steps it was given.
        package let steps: Int
        /// After those.
        package let metrics: ValidationMetrics
        package let isFinalist: Bool
    }

    /// Steps after which each round ends, the last at the whole training.
    package let rungs: [Int]
    private let keeps: [Int]

    /// - Parameters:
    ///   - steps: of the finalists.
    ///   - rounds: fewer where there are not enough candidates to halve so often.
    package init(candidates: Int, steps: Int, rounds: Int) {
        var counts = [candidates]
        while counts.count < rounds, counts[counts.count - 1] > 1 {
            counts.append((counts[counts.count - 1] + 1) / 2)
        }
        keeps = counts
        rungs = counts.indices.map { max(steps >> (counts.count - 1 - $0), 1) }
    }

    /// Trains the candidates, each in the folder that its configuration names.
    ///
    /// - Parameters:
    ///   - report: is told who trains until which step, and what the trainers say.
    ///   - shouldStop: ends the search with what is known so far.
    /// - Returns: all candidates with what they reached, the best first.
    /// - Throws: what trainers throw.
    package func run(
        _ candidates: [Candidate], report: (Candidate, Int) -> Void = { _, _ in },
        shouldStop: @escaping () -> Bool = { false }
    ) throws -> [Outcome] {
        var outcomes: [String: Outcome] = [:]
        var racing = candidates
        for (round, rung) in rungs.enumerated() {
            for candidate in racing {
                guard !shouldStop() else { return Self.sorted(outcomes) }
                report(candidate, rung)
                outcomes[candidate.name] =
                    try train(candidate, to: rung, round, shouldStop)
                    ?? outcomes[candidate.name]
            }
            racing = Self.sorted(outcomes.filter { name, _ in racing.contains { $0.name == name } })
                .prefix(round + 1 < keeps.count ? keeps[round + 1] : 0).map(\.candidate)
        }
        return Self.sorted(outcomes)
    }

    /// - Returns: nil if it was interrupted before it was measured.
    private func train(
        _ candidate: Candidate, to rung: Int, _ round: Int, _ shouldStop: () -> Bool
    ) throws -> Outcome? {
        var configuration = candidate.configuration
        configuration.steps = rungs[rungs.count - 1]
        configuration.validateEvery = rung
        configuration.tensorboard = false
        var last: ValidationMetrics?
        let trainer = try Trainer(configuration, resumes: round > 0) { event in
            if case .metrics(let record) = event { last = record.validation ?? last }
        }
        guard try trainer.run(until: rung, shouldStop: shouldStop) == .finished else { return nil }
        guard let metrics = last else { return nil }
        return Outcome(
            candidate: candidate, steps: rung, metrics: metrics,
            isFinalist: round == rungs.count - 1)
    }

    /// Finalists first, then by color difference.
    private static func sorted(_ outcomes: [String: Outcome]) -> [Outcome] {
        outcomes.values.sorted { one, other in
            if one.steps != other.steps { return one.steps > other.steps }
            return (one.metrics.deltaE2000, one.candidate.name)
                < (other.metrics.deltaE2000, other.candidate.name)
        }
    }
}
