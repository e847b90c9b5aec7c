import Dispatch
import RetintLocks
import RetintRuntime

/// A fixed number of threads, each of which does one piece of work at a time. If all are busy,
/// callers wait in order.
///
/// Work blocks its thread, so it must not run on the threads of Swift's tasks.
package final class WorkerThreads: Sendable {
    /// The number of threads.
    package var count: Int { threads.count }
    private let threads: [DispatchQueue]
    private let queue: WaitingQueue

    package init(_ count: Int, name: String) {
        threads = (0..<count).map { _ in DispatchQueue(label: name) }
        queue = WaitingQueue(count)
    }

    /// Does a piece of work.
    ///
    /// - Parameter work: receives the index of its thread, which no other work has at that time,
    ///   and whether the calling task has been cancelled.
    /// - Throws: the errors of `work`; `CancellationError` if the task is cancelled before it
    ///   begins.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable (_ index: Int, CancellationFlag) throws -> Value
    ) async throws -> Value {
        let index = try await queue.take()
        defer { queue.giveBack(index) }
        let cancellation = CancellationFlag()
        let handover = Handover<Value>()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                threads[index].async {
                    handover.put(Result { try work(index, cancellation) })
                    continuation.resume()
                }
            }
        } onCancel: {
            cancellation.set()
        }
        return try handover.take()
    }
}

/// Hands the result of a thread to a task under a lock: the thread sanitizer does not know that a
/// continuation synchronizes, and would report races on everything in the result.
private final class Handover<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    func put(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }

    /// - Precondition: there is a result.
    func take() throws -> Value { try result.withLock { $0! }.get() }
}
