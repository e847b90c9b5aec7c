import RetintLocks

import struct Synchronization.Atomic

/// Carries events from the thread that trains to the task that reads them.
///
/// It is unbounded: training never waits for its reader. An event takes some tens of bytes and
/// comes once per step, so even a million unread events are small compared with the weights.
final class EventQueue: Sendable {
    private typealias Reader = CheckedContinuation<TrainingEvent?, any Error>

    private struct State {
        /// Oldest first; those before `first` are read.
        var events: [TrainingEvent] = []
        var first = 0
        /// How the training ended; nothing is added afterwards.
        var end: Result<Void, any Error>?
        var reader: Reader?
    }

    private let state = Mutex(State())
    private let stopRequested = Atomic(false)

    /// Whether the reader wants no more steps.
    var isStopped: Bool { stopRequested.load(ordering: .relaxed) }

    /// Asks the training to stop before its next step.
    func stop() { stopRequested.store(true, ordering: .relaxed) }

    /// Adds an event.
    func send(_ event: TrainingEvent) {
        let reader = state.withLock { state -> Reader? in
            guard let reader = state.reader.take() else {
                state.events.append(event)
                return nil
            }
            return reader
        }
        reader?.resume(returning: event)
    }

    /// Ends the events, with an error if the training failed.
    func finish(_ result: Result<Void, any Error>) {
        let reader = state.withLock { state -> Reader? in
            guard let reader = state.reader.take() else {
                state.end = result
                return nil
            }
            state.end = .success(())
            return reader
        }
        reader?.resume(with: result.map { nil })
    }

    /// Waits for the next event; nil after the last one. An error is thrown once.
    ///
    /// Cancelling the waiting task calls ``stop()``; events continue until the training has saved
    /// its state.
    func next() async throws -> TrainingEvent? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                let ready = state.withLock { Self.take(&$0, orWait: reader) }
                if let ready { reader.resume(with: ready) }
            }
        } onCancel: {
            stop()
        }
    }

    private static func take(
        _ state: inout State, orWait reader: Reader
    ) -> Result<TrainingEvent?, any Error>? {
        if state.first < state.events.count {
            let event = state.events[state.first]
            state.first += 1
            if state.first == state.events.count { (state.events, state.first) = ([], 0) }
            return .success(event)
        }
        if let end = state.end {
            state.end = .success(())
            return end.map { nil }
        }
        state.reader = reader
        return nil
    }
}
