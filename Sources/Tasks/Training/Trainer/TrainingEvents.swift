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
    case finished(Trainer.Outcome)
}

extension Trainer {
    /// Why training ended.
    public enum Outcome: Hashable, Sendable {
        /// All steps are done.
        case finished
        /// The configuration's time limit was reached.
        case timeLimit
        /// The validation loss was not lowered for the number of validations in `patience`.
        case noProgress
        /// The task was cancelled.
        case interrupted
    }
}

/// The events of a training run, in order; see ``Trainer/events()``.
///
/// Events wait in an unbounded buffer until they are read: a slow reader does not slow the
/// training down.
public struct TrainingEvents: AsyncSequence, Sendable {
    /// An event: a step, new metrics, a photo that cannot be read, a note or the end.
    public typealias Element = TrainingEvent
    /// The error that ended the training.
    public typealias Failure = any Error

    let trainer: Trainer

    /// Starts the training.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: EventReader(trainer.start())) }

    /// Reads events; the training stops when it is discarded.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: EventReader

        /// The next event; nil after ``TrainingEvent/finished(_:)``.
        ///
        /// - Throws: the error that ended the training, once.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> TrainingEvent? {
            try await reader.queue.next()
        }
    }
}

/// Stops the training when its events can no longer be read.
private final class EventReader: Sendable {
    let queue: EventQueue

    init(_ queue: EventQueue) { self.queue = queue }

    deinit { queue.stop() }
}
