import Foundation
import Synchronization

/// Turns Ctrl-C (SIGINT) and SIGTERM into a request to stop, so that a command can save its state.
/// A second signal ends the process at once.
enum Interruption {
    private static let flag = Atomic<Bool>(false)

    /// Whether a signal has arrived.
    static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// Runs `work` in a task that Ctrl-C cancels.
    static func cancelling<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        install()
        let task = Task { try await work() }
        // A signal handler may only set a flag, so a task polls it.
        let watch = Task {
            while !isRequested { try await Task.sleep(for: .milliseconds(20)) }
            task.cancel()
        }
        defer { watch.cancel() }
        return try await task.value
    }

    static func install() {
        // Initializes the flag now: the handler must not run a lazy initializer.
        _ = isRequested
        // The parent process may have left the signals blocked.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                Interruption.flag.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }
}
