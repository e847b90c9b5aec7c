/// How long a training has taken, over all its runs, and how much of its time limit that is.
struct TrainingTime {
    /// Seconds of earlier runs.
    private let before: Double
    /// Seconds; nil: there is no limit.
    private let limit: Double?
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant

    /// - Parameters:
    ///   - before: seconds of earlier runs.
    ///   - limit: in minutes.
    init(before: Double, limit: Double?) {
        (self.before, self.limit) = (before, limit.map { $0 * 60 })
        start = clock.now
    }

    /// Seconds until now.
    var seconds: Double { before + (clock.now - start) / .seconds(1) }

    /// Whether the limit is reached.
    var isUp: Bool { limit.map { seconds >= $0 } ?? false }

    /// The share of the limit that has passed; 0 without one.
    var share: Float { share(seconds) }

    /// That share at the start of this run, equal in all ranks.
    var shareAtStart: Float { share(before) }

    private func share(_ seconds: Double) -> Float { limit.map { Float(seconds / $0) } ?? 0 }
}
