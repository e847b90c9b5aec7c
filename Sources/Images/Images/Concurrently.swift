import Dispatch
import RetintLocks

/// Runs pieces of work, several at a time.
///
/// - Parameters:
///   - count: the number of pieces.
///   - threads: the number of threads at most, including the calling one.
///   - body: runs the piece with this index.
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
