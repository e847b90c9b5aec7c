/// Something that happened during a training.
public enum TrainingEvent: Sendable {
    /// A step is done: the number of steps so far, and the loss of this one.
    case step(Int, loss: Double)
    /// A record was written to `metrics.jsonl`: means over training steps, or a validation.
    case metrics(MetricsRecord)
    /// A photo that cannot be read, which is left out; the text names the file and the reason.
    case badPhoto(String)
    /// Something worth knowing, such as a step that was skipped because its loss was not finite.
    case note(String)
    /// The training is over and its state is saved. No event follows.
    case finished(TrainingOutcome)
}

/// Why a training ended.
public enum TrainingOutcome: Hashable, Sendable {
    /// All steps are done.
    case finished
    /// The configuration's time limit is reached.
    case timeLimit
    /// As many validations as the configuration's `patience` brought no lower loss.
    case noProgress
    /// The task was cancelled.
    case interrupted
}
