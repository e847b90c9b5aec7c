import Foundation
import Retint
import Synchronization

/// Turns Ctrl-C (SIGINT), SIGTERM, closing the terminal (SIGHUP) and a scheduler's warning
/// (SIGUSR1, which `mpirun` forwards to all ranks) into a request to stop, so that a command can
/// save its state. Another signal ends the process, unless it comes within a second: programs such
/// as `timeout` signal both a process and its group.
enum Interruption {
    /// When the first signal arrived, in nanoseconds of the monotonic clock; 0 before.
    private static let requestTime = Atomic<UInt64>(0)
    /// The number of that signal; 0 before.
    private static let requestSignal = Atomic<Int32>(0)
    /// Whether the command handles signals itself.
    private static let isHandled = Atomic<Bool>(false)
    /// Whether a signal is about to end the process.
    private static let isEnding = Atomic<Bool>(false)

    /// Whether a signal has arrived.
    static var isRequested: Bool { requestTime.load(ordering: .relaxed) != 0 }

    /// Runs `work` in a task that Ctrl-C cancels.
    static func cancelling<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        // A program that runs commands itself handles its own signals, and cancels the task.
        if CommandOutput.current != nil { return try await work() }
        isHandled.store(true, ordering: .relaxed)
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
        // The parent process may have left the signals blocked.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in requests { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        handle(requests.filter { !($0 == SIGHUP && isIgnored($0)) })
        // A program that reads the messages may end first: that must not keep the state from being
        // saved.
        signal(SIGPIPE, SIG_IGN)
    }

    private static func handle(_ signals: [Int32]) {
        // Initializes the flags now: the handler must not run a lazy initializer.
        _ = isRequested
        _ = requestSignal.load(ordering: .relaxed)
        for number in signals { signal(number) { Interruption.request($0) } }
    }

    /// Handles a signal; calls only what a signal handler may call.
    private static func request(_ number: Int32) {
        _ = requestSignal.compareExchange(expected: 0, desired: number, ordering: .relaxed)
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

    /// Makes a signal that ends the process first remove the partial files and the locks of outputs
    /// that the process has, until the command handles signals itself.
    static func removeLeftovers() {
        // A shell makes commands in the background ignore Ctrl-C.
        handle([SIGINT, SIGTERM, SIGHUP].filter { !isIgnored($0) })
        // A signal handler may only set a flag. The command may keep all other threads busy.
        Thread.detachNewThread {
            while !isHandled.load(ordering: .relaxed) {
                let number = requestSignal.load(ordering: .relaxed)
                if number != 0 { return end(by: number) }
                usleep(pollTime)
            }
        }
    }

    private static func end(by number: Int32) {
        isEnding.store(true, ordering: .relaxed)
        OutputClaim.abandonAll()
        signal(number, SIG_DFL)
        kill(getpid(), number)
        // Signals without a handler do not end the first process of a container.
        sleep(1)
        _exit(128 + number)
    }

    /// Waits for the end if a signal is about to end the process: what has failed meanwhile may
    /// miss the files that were removed.
    static func waitForEnd() {
        while isEnding.load(ordering: .relaxed) { usleep(pollTime) }
    }

    /// The time between two looks at a flag, in microseconds.
    private static let pollTime: UInt32 = 20_000

    /// Turns exceeding the file size limit (`ulimit -f`) into a write error, so that it does not
    /// end the process.
    static func refuseLargeFiles() { signal(SIGXFSZ, SIG_IGN) }
}
