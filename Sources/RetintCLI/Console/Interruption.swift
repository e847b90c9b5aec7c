import Foundation
import Synchronization

/// Lets Ctrl-C (SIGINT) and SIGTERM ask a command to end in order. A second one ends it at once.
enum Interruption {
    private static let flag = Atomic<Bool>(false)

    /// Whether someone asked.
    static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// Runs `work` in a task that Ctrl-C cancels.
    static func cancelling<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        install()
        let task = Task { try await work() }
        // A signal handler may do no more than set a flag.
        let watch = Task {
            while !isRequested { try await Task.sleep(for: .milliseconds(20)) }
            task.cancel()
        }
        defer { watch.cancel() }
        return try await task.value
    }

    static func install() {
        // The handler may touch nothing that is made at its first use.
        _ = isRequested
        // Whoever started this process may have left the signals blocked.
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
