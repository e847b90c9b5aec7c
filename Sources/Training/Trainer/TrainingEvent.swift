/// What a trainer tells while it works.
package enum TrainingEvent: Sendable {
    /// So many steps are done; the loss of the last one.
    case step(Int, loss: Double)
    case metrics(MetricsRecord)
    case badPhoto(String)
    case note(String)
}

/// How a training ended.
package enum TrainingOutcome: Hashable, Sendable {
    case finished
    /// The time that was given is over.
    case timeLimit
    /// Validation found no better loss for as long as `patience` says.
    case noProgress
    /// Someone asked it to stop.
    case interrupted
}
