import Foundation

/// Threads that prepare the batches of the next steps while the current one is computed.
final class BatchLoader: @unchecked Sendable {
    // Everything mutable is guarded by the condition's lock.
    private let condition = NSCondition()
    private let source: BatchSource
    private let photos: KeptPhotos?
    private let capacity: Int
    private let end: Int
    private var next: Int
    private var consumed: Int
    private var ready: [Int: Result<Batch, any Error>] = [:]
    private var isStopped = false

    /// - Parameters:
    ///   - steps: the steps whose batches are requested, in this order.
    ///   - photos: those that the step's program keeps; nil: it keeps none.
    init(
        _ source: BatchSource, steps: Range<Int>, threads: Int, keeping photos: KeptPhotos? = nil
    ) {
        (self.source, self.photos) = (source, photos)
        (next, consumed, end) = (steps.lowerBound, steps.lowerBound, steps.upperBound)
        capacity = threads + 2
        for _ in 0..<threads {
            Thread { [self] in work() }.start()
        }
    }

    /// Waits for the batch of the next step.
    func take() throws -> Batch {
        condition.lock()
        defer { condition.unlock() }
        while ready[consumed] == nil { condition.wait() }
        let result = ready.removeValue(forKey: consumed)
        consumed += 1
        condition.broadcast()
        guard let result else { preconditionFailure("a prepared batch is missing") }
        return try result.get()
    }

    /// Ends the threads when no more batches are needed.
    func stop() {
        condition.lock()
        isStopped = true
        condition.broadcast()
        condition.unlock()
    }

    private func work() {
        while let step = claim() {
            let result = Result { try source.batch(step: step, keeping: photos) }
            condition.lock()
            ready[step] = result
            condition.broadcast()
            condition.unlock()
        }
    }

    /// Waits until the next step is at most `capacity` ahead, and claims it; nil at the end.
    private func claim() -> Int? {
        condition.lock()
        defer { condition.unlock() }
        while !isStopped && next < end && next >= consumed + capacity { condition.wait() }
        guard !isStopped && next < end else { return nil }
        next += 1
        return next - 1
    }
}
