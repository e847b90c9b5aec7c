import Foundation
public import RetintArchitectures
public import RetintDistributed
import RetintLocks

/// Trains a network on photos.
///
///     let trainer = try Trainer(configuration)
///     for try await event in trainer.events() {
///         if case .metrics(let record) = event { print(record.step, record.loss ?? 0) }
///     }
///
/// The configuration's output folder contains the run: `config.yaml`, `metrics.jsonl`,
/// `report.html`, `last.h5` to resume from, and `best.h5` with the lowest validation loss.
public final class Trainer: Sendable {
    /// The configuration of the trainer.
    public let configuration: TrainingConfiguration
    /// The network, the photos and the memory that a step takes.
    public let overview: Trainer.Overview
    private let run: Mutex<TrainingRun>
    private let relay: EventRelay

    /// Reads the starting weights, lists the photos, and compiles the training step. Nothing is
    /// written yet. This takes seconds for large networks and blocks the caller.
    ///
    /// - Parameters:
    ///   - resumes: whether to continue the run in the output folder. The weights are then
    ///     bit-identical to those of a run that never stopped.
    ///   - ranks: the processes that train together: ``Communicator/world()``. Each creates a
    ///     trainer with the same configuration, and reads its events. They split each batch and the
    ///     validation photos; rank 0 writes the folder.
    /// - Throws: ``TrainingError`` if the configuration does not fit the network, there are no
    ///   photos, the output folder already contains a run and `resumes` is false, or no run that
    ///   can be resumed, or the ranks differ; `RankError` if ranks cannot reach each other;
    ///   otherwise the errors of reading checkpoints and photos.
    public init(
        _ configuration: TrainingConfiguration, resumes: Bool = false,
        ranks: Communicator = .single
    ) throws {
        let relay = EventRelay()
        let run = try TrainingRun(
            configuration, from: resumes ? .resumed : .fresh, ranks: ranks
        ) {
            relay.send($0)
        }
        (self.configuration, self.relay, overview) = (run.configuration, relay, run.overview)
        self.run = Mutex(run)
    }

    /// Whether the output folder of a configuration contains a run that can be resumed.
    public static func canResume(_ configuration: TrainingConfiguration) -> Bool {
        RunFolder(configuration.output).holdsRun
    }

    /// Trains, and returns the events as they happen.
    ///
    /// Training starts with the first iteration, on its own thread. The sequence ends after
    /// ``TrainingEvent/finished(_:)``, or throws the error that ended the training: a
    /// ``TrainingError`` when values are no longer finite, or an error of writing files.
    ///
    /// When the reading task is cancelled, training stops before its next step and saves its
    /// state; the last event is then `.finished(.interrupted)`. Leaving the loop early does the
    /// same, unobserved. Calling this again continues the training.
    ///
    /// One loop at a time can read; a second one starts when the first has ended.
    public func events() -> TrainingEvents { TrainingEvents(trainer: self) }

    /// Starts to train on a new thread.
    ///
    /// - Returns: the queue of events.
    func start() -> EventQueue {
        let queue = EventQueue()
        let thread = Thread { [self] in
            run.withLock { run in
                relay.connect(to: queue)
                queue.finish(
                    Result {
                        queue.send(.finished(try run.run { queue.isStopped }))
                    })
            }
        }
        thread.name = "retint.training"
        thread.start()
        return queue
    }
}

extension Trainer {
    /// The network, the data and the memory of a training run, known before its first step.
    public struct Overview: Hashable, Sendable {
        /// Steps done by the run that is resumed; 0 for a new one.
        public let firstStep: Int
        /// The number of training photos.
        public let photos: Int
        /// The number of validation photos.
        public let validationPhotos: Int
        /// The number of training photos, spread over all, of which a new run looks at the colors.
        public let examinedPhotos: Int
        /// Those of them that have no colors.
        public let grayPhotos: Int
        /// Ranks that train together.
        public let ranks: Int
        /// Bytes of weights, gradients, optimizer state and activations that a step needs in
        /// memory.
        public let stepBytes: Int
        /// The network, module by module, on one crop.
        public let network: NetworkSummary
    }
}

/// Passes events to the queue that is being read, and keeps earlier events until there is one.
private final class EventRelay: Sendable {
    private struct State {
        var unsent: [TrainingEvent] = []
        var queue: EventQueue?
    }

    private let state = Mutex(State())

    func send(_ event: TrainingEvent) {
        state.withLock { state in
            guard let queue = state.queue else { return state.unsent.append(event) }
            queue.send(event)
        }
    }

    func connect(to queue: EventQueue) {
        state.withLock { state in
            for event in state.unsent { queue.send(event) }
            (state.unsent, state.queue) = ([], queue)
        }
    }
}
