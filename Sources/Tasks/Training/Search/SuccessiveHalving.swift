import RetintDistributed
import RetintFiles

/// Trains candidates by successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm
/// Identification and Hyperparameter Optimization", 2016): all for a few steps, the better half for
/// twice as many, and so on until the last round, which trains to the end.
struct SuccessiveHalving {
    /// Steps after which each round ends; the last one is the whole training.
    let roundSteps: [Int]
    /// The number of candidates in each round.
    private let counts: [Int]

    /// - Parameters:
    ///   - candidates: the number of candidates.
    ///   - steps: steps of the finalists.
    ///   - rounds: the largest number of rounds; there are fewer if a single candidate is left.
    init(candidates: Int, steps: Int, rounds: Int) {
        var counts = [candidates]
        while counts.count < rounds, counts[counts.count - 1] > 1 {
            counts.append((counts[counts.count - 1] + 1) / 2)
        }
        self.counts = counts
        roundSteps = counts.indices.map { max(steps >> (counts.count - 1 - $0), 1) }
    }

    /// Trains the candidates, each in the output folder of its configuration. With several ranks,
    /// each trains a part of a round's candidates.
    ///
    /// - Parameters:
    ///   - ranks: ranks with access to the same folders.
    ///   - progress: called before a candidate is trained up to a step.
    ///   - shouldStop: ends the search; the results so far are returned.
    /// - Returns: the results of all candidates, on all ranks.
    /// - Throws: ``TrainingError`` if all candidates diverge; the other errors of training;
    ///   `RankError`.
    func run(
        _ candidates: [SearchCandidate], ranks: Communicator,
        progress: (SearchCandidate, Int) -> Void, shouldStop: () -> Bool
    ) throws -> SearchOutcome {
        var outcome = SearchOutcome()
        var remaining = candidates
        for (round, steps) in roundSteps.enumerated() where !remaining.isEmpty {
            let own = try ranks.ownIndices(of: remaining.count).map {
                try attempt(remaining[$0], round, progress, shouldStop)
            }
            let attempts = try ranks.gather(own, of: remaining.count)
            for (candidate, attempt) in zip(remaining, attempts) {
                outcome.add(
                    attempt, of: candidate, steps: steps,
                    isFinalist: round == roundSteps.count - 1)
            }
            if attempts.contains(where: \.isStopped) { break }
            try outcome.requireResults()
            let names = Set(remaining.map(\.name))
            let count = round + 1 < counts.count ? counts[round + 1] : 0
            remaining = outcome.ranked.map(\.candidate).filter { names.contains($0.name) }
            remaining = Array(remaining.prefix(count))
        }
        return outcome
    }

    /// The result of training a candidate in a round.
    fileprivate struct Attempt: Codable {
        /// Nil if it was not validated.
        var metrics: ValidationMetrics?
        /// What was no longer finite; nil if everything was.
        var problem: String?
        var isStopped = true
    }

    private func attempt(
        _ candidate: SearchCandidate, _ round: Int, _ progress: (SearchCandidate, Int) -> Void,
        _ shouldStop: () -> Bool
    ) throws -> Attempt {
        guard !shouldStop() else { return Attempt() }
        progress(candidate, roundSteps[round])
        do {
            let metrics = try train(candidate, round, shouldStop)
            return Attempt(metrics: metrics, isStopped: shouldStop())
        } catch let error as TrainingError where error.kind == .notFinite {
            // What may be saved and resumed is of no use to a search: only the first clause.
            let problem = error.rule.prefix { $0 != ";" }
            return Attempt(problem: String(problem), isStopped: shouldStop())
        }
    }

    /// Trains a candidate until the end of a round.
    ///
    /// - Returns: nil if it was stopped before it was validated.
    private func train(
        _ candidate: SearchCandidate, _ round: Int, _ shouldStop: () -> Bool
    ) throws -> ValidationMetrics? {
        var configuration = candidate.configuration
        configuration.steps = roundSteps[roundSteps.count - 1]
        configuration.validateEvery = roundSteps[round]
        configuration.tensorboard = false
        var latest: ValidationMetrics?
        let run = try TrainingRun(configuration, from: round > 0 ? .resumed : .fresh) { event in
            if case .metrics(let record) = event { latest = record.validation ?? latest }
        }
        let outcome = try run.run(until: roundSteps[round], shouldStop: shouldStop)
        return outcome == .finished ? latest : nil
    }
}

/// What became of the candidates of a search.
struct SearchOutcome {
    private var results: [String: CandidateResult] = [:]
    /// The candidates whose training diverged.
    private(set) var diverged: [ArchitectureSearchReport.Divergence] = []

    /// The results of the others: those with the most steps first, then by color difference.
    var ranked: [CandidateResult] {
        results.values.sorted { one, other in
            if one.steps != other.steps { return one.steps > other.steps }
            return (one.metrics.deltaE2000, one.candidate.name)
                < (other.metrics.deltaE2000, other.candidate.name)
        }
    }

    fileprivate mutating func add(
        _ attempt: SuccessiveHalving.Attempt, of candidate: SearchCandidate, steps: Int,
        isFinalist: Bool
    ) {
        if let problem = attempt.problem {
            results[candidate.name] = nil
            diverged.append(.init(candidate: candidate.name, problem: problem))
        } else if let metrics = attempt.metrics {
            results[candidate.name] = CandidateResult(
                candidate: candidate, steps: steps, metrics: metrics, isFinalist: isFinalist)
        }
    }

    /// - Throws: ``TrainingError`` if all candidates so far have diverged.
    func requireResults() throws(TrainingError) {
        guard results.isEmpty, let first = diverged.first else { return }
        throw TrainingError(
            .notFinite,
            "the training of all candidates diverges, of \(first.candidate) at \(first.problem); "
                + "lower optimizer.learning_rate, or set optimizer.clip_grad_norm or "
                + "schedule.warmup_steps")
    }
}

/// The quality of a candidate after its last round.
struct CandidateResult: Sendable {
    let candidate: SearchCandidate
    /// The number of training steps.
    let steps: Int
    /// The validation after these steps.
    let metrics: ValidationMetrics
    let isFinalist: Bool
}
