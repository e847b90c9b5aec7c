import Synchronization

/// Trains candidates by successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm
/// Identification and Hyperparameter Optimization", 2016): all for a few steps, the better half for
/// twice as many, and so on until the last round, which trains to the end.
struct SuccessiveHalving {
    /// Steps after which each round ends; the last one is the whole training.
    let roundSteps: [Int]
    /// The number of candidates in each round.
    private let counts: [Int]

    /// - Parameters:
    ///   - candidates: their number.
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

    /// Trains the candidates, each in the output folder of its configuration.
    ///
    /// - Parameters:
    ///   - progress: called before a candidate is trained up to a step.
    ///   - shouldStop: ends the search; the results so far are returned.
    /// - Returns: the results of all candidates, the best first.
    /// - Throws: the errors of training.
    func run(
        _ candidates: [SearchCandidate], progress: (SearchCandidate, Int) -> Void,
        shouldStop: () -> Bool
    ) throws -> [CandidateResult] {
        var results: [String: CandidateResult] = [:]
        var remaining = candidates
        for round in roundSteps.indices {
            for candidate in remaining {
                guard !shouldStop() else { return Self.sorted(results) }
                progress(candidate, roundSteps[round])
                results[candidate.name] =
                    try train(candidate, round, shouldStop) ?? results[candidate.name]
            }
            let ranked = Self.sorted(
                results.filter { name, _ in remaining.contains { $0.name == name } })
            let count = round + 1 < counts.count ? counts[round + 1] : 0
            remaining = ranked.prefix(count).map(\.candidate)
        }
        return Self.sorted(results)
    }

    /// Trains a candidate until the end of a round.
    ///
    /// - Returns: nil if it was stopped before it was validated.
    private func train(
        _ candidate: SearchCandidate, _ round: Int, _ shouldStop: () -> Bool
    ) throws -> CandidateResult? {
        var configuration = candidate.configuration
        configuration.steps = roundSteps[roundSteps.count - 1]
        configuration.validateEvery = roundSteps[round]
        configuration.tensorboard = false
        var latest: ValidationMetrics?
        let run = try TrainingRun(configuration, from: round > 0 ? .resumed : .fresh) { event in
            if case .metrics(let record) = event { latest = record.validation ?? latest }
        }
        let outcome = try run.run(until: roundSteps[round], shouldStop: shouldStop)
        guard outcome == .finished, let metrics = latest else { return nil }
        return CandidateResult(
            candidate: candidate, steps: roundSteps[round], metrics: metrics,
            isFinalist: round == roundSteps.count - 1)
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
    /// Steps it was trained for.
    let steps: Int
    /// The validation after those.
    let metrics: ValidationMetrics
    let isFinalist: Bool
}
