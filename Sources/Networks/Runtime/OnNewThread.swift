import Foundation
import Synchronization

/// Runs long, blocking work on a new thread, so that it does not occupy the cooperative pool.
///
/// - Parameter work: receives a closure that returns whether the calling task was cancelled.
package func onNewThread<Value: Sendable>(
    _ work: @escaping @Sendable (_ isCancelled: () -> Bool) throws -> Value
) async throws -> Value {
    let cancellation = CancellationFlag()
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                continuation.resume(with: Result { try work { cancellation.isSet } })
            }
            thread.name = "retint.work"
            thread.start()
        }
    } onCancel: {
        cancellation.set()
    }
}

/// Tells work on another thread that the waiting task was cancelled.
package final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package var isSet: Bool { flag.load(ordering: .relaxed) }

    package func set() { flag.store(true, ordering: .relaxed) }
}
