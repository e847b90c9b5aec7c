/// An event during training.
public enum TrainingEvent: Sendable {
    /// A step is done: the number of steps so far, and the loss of this one.
    case step(Int, loss: Double)
    /// A record was written to `metrics.jsonl`: means over training steps, or a validation.
    case metrics(MetricsRecord)
    /// A photo that cannot be read and is skipped; the text names the file and the reason.
    case badPhoto(String)
    /// A message, such as a step that was skipped because its loss was not finite.
    case note(String)
    /// The training has ended and its state is saved. No event follows.
    case finished(TrainingOutcome)
}

/// Why training ended.
public enum TrainingOutcome: Hashable, Sendable {
    /// All steps are done.
    case finished
    /// The configuration's time limit was reached.
    case timeLimit
    /// The validation loss was not lowered for the number of validations in `patience`.
    case noProgress
    /// The task was cancelled.
    case interrupted
}
