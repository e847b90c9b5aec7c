import Foundation
import Synchronization

/// Turns Ctrl-C (SIGINT), SIGTERM, closing the terminal (SIGHUP) and a scheduler's warning
/// (SIGUSR1, which `mpirun` forwards to all ranks) into a request to stop, so that a command can
/// save its state. Another signal ends the process, unless it comes within a second: programs such
/// as `timeout` signal both a process and its group.
enum Interruption {
    /// When the first signal arrived, in nanoseconds of the monotonic clock; 0 before.
    private static let requestTime = Atomic<UInt64>(0)

    /// Whether a signal has arrived.
    static var isRequested: Bool { requestTime.load(ordering: .relaxed) != 0 }

    /// Runs `work` in a task that Ctrl-C cancels.
    static func cancelling<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        // A program that runs commands itself handles its own signals, and cancels the task.
        if CommandOutput.current != nil { return try await work() }
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
        for number in requests { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        for number in requests where !(number == SIGHUP && isIgnored(number)) {
            signal(number) { Interruption.request($0) }
        }
        // A program that reads the messages may end first: that must not keep the state from being
        // saved.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Handles a signal; calls only what a signal handler may call.
    private static func request(_ number: Int32) {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let second: UInt64 = 1_000_000_000
        let now = UInt64(time.tv_sec) &* second &+ UInt64(time.tv_nsec) | 1
        let first = requestTime.compareExchange(
            expected: 0, desired: now, ordering: .relaxed)
        guard !first.exchanged, now &- first.original > second else { return }
        signal(number, SIG_DFL)
        raise(number)
    }

    private static let requests = [SIGINT, SIGTERM, SIGHUP, SIGUSR1]

    /// `nohup` ignores SIGHUP for the programs that it starts.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// Turns exceeding the file size limit (`ulimit -f`) into a write error, so that it does not
    /// end the process.
    static func refuseLargeFiles() { signal(SIGXFSZ, SIG_IGN) }
}
