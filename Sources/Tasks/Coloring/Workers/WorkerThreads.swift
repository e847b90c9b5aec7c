import Dispatch
import RetintLocks
import RetintRuntime

/// A fixed number of threads, each of which does one piece of work at a time. Callers that find all
/// of them busy wait in order.
///
/// Work blocks its thread, which is why it does not run on the threads of Swift's tasks.
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
    /// - Parameter work: receives the index of its thread, which no other work has meanwhile, and
    ///   whether the calling task was cancelled since.
    /// - Throws: what `work` throws; `CancellationError` if the task is cancelled before it begins.
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

/// Hands the result of a thread to a task under a lock: the thread sanitizer does not see that a
/// continuation does so, and takes all that the result holds for raced over.
private final class Handover<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    func put(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }

    /// - Precondition: there is a result.
    func take() throws -> Value { try result.withLock { $0! }.get() }
}
