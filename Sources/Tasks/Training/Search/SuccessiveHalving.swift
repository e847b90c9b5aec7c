import RetintDistributed

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
    /// - Returns: the results of all candidates, the best first, on all ranks.
    /// - Throws: the errors of training; `RankError`.
    func run(
        _ candidates: [SearchCandidate], ranks: Communicator,
        progress: (SearchCandidate, Int) -> Void, shouldStop: () -> Bool
    ) throws -> [CandidateResult] {
        var results: [String: CandidateResult] = [:]
        var remaining = candidates
        for round in roundSteps.indices {
            let own = try ranks.ownIndices(of: remaining.count).map {
                try attempt(remaining[$0], round, progress, shouldStop)
            }
            let attempts = try ranks.gather(own, of: remaining.count)
            for (candidate, attempt) in zip(remaining, attempts) {
                guard let metrics = attempt.metrics else { continue }
                results[candidate.name] = CandidateResult(
                    candidate: candidate, steps: roundSteps[round], metrics: metrics,
                    isFinalist: round == roundSteps.count - 1)
            }
            if attempts.contains(where: \.isStopped) { return Self.sorted(results) }
            let ranked = Self.sorted(
                results.filter { name, _ in remaining.contains { $0.name == name } })
            let count = round + 1 < counts.count ? counts[round + 1] : 0
            remaining = ranked.prefix(count).map(\.candidate)
        }
        return Self.sorted(results)
    }

    /// The result of training a candidate in a round.
    private struct Attempt: Codable {
        /// Nil if it was not validated.
        var metrics: ValidationMetrics?
        var isStopped = true
    }

    private func attempt(
        _ candidate: SearchCandidate, _ round: Int, _ progress: (SearchCandidate, Int) -> Void,
        _ shouldStop: () -> Bool
    ) throws -> Attempt {
        guard !shouldStop() else { return Attempt() }
        progress(candidate, roundSteps[round])
        let metrics = try train(candidate, round, shouldStop)
        return Attempt(metrics: metrics, isStopped: shouldStop())
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

    /// Sorts by steps, then by color difference.
    private static func sorted(_ results: [String: CandidateResult]) -> [CandidateResult] {
        results.values.sorted { one, other in
            if one.steps != other.steps { return one.steps > other.steps }
            return (one.metrics.deltaE2000, one.candidate.name)
                < (other.metrics.deltaE2000, other.candidate.name)
        }
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
