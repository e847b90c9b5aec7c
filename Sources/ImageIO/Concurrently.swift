import Dispatch
import Locks

/// Does pieces of work, several of them at the same time.
///
/// - Parameters:
///   - count: the number of pieces.
///   - threads: the most that are worked on at the same time, with the calling thread.
///   - body: does the piece of an index.
package func concurrently(_ count: Int, threads: Int, _ body: (Int) -> Void) {
    guard min(threads, count) > 1 else { return (0..<count).forEach(body) }
    let next = Mutex(0)
    withoutActuallyEscaping(body) { body in
        nonisolated(unsafe) let body = body
        DispatchQueue.concurrentPerform(iterations: min(threads, count)) { _ in
            while true {
                let index = next.withLock { next in
                    defer { next += 1 }
                    return next
                }
                guard index < count else { return }
                body(index)
            }
        }
    }
    // Data written by the other threads is read after their last unlock.
    next.withLock { _ in }
}
