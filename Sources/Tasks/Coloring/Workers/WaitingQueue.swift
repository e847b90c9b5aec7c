import RetintLocks

/// Lends a fixed number of resources, by index, in the order of the requests.
package final class WaitingQueue: Sendable {
    private typealias Continuation = CheckedContinuation<Int, any Error>

    private struct State {
        var free: [Int]
        var lastTicket = 0
        /// Tickets of callers that have been neither served nor cancelled.
        var open: Set<Int> = []
        /// Those that are waiting, in order.
        var waiting: [(ticket: Int, continuation: Continuation)] = []
    }

    private let state: Mutex<State>

    package init(_ count: Int) { state = Mutex(State(free: Array((0..<count).reversed()))) }

    /// Waits for an index, which ``giveBack(_:)`` must return.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func take() async throws -> Int {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            state.open.insert(state.lastTicket)
            return state.lastTicket
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { serve(ticket, $0) }
        } onCancel: {
            cancel(ticket)
        }
    }

    private func serve(_ ticket: Int, _ continuation: Continuation) {
        let result: Result<Int, any Error>? = state.withLock { state in
            guard state.open.contains(ticket) else { return .failure(CancellationError()) }
            guard let index = state.free.popLast() else {
                state.waiting.append((ticket, continuation))
                return nil
            }
            state.open.remove(ticket)
            return .success(index)
        }
        if let result { continuation.resume(with: result) }
    }

    private func cancel(_ ticket: Int) {
        let continuation: Continuation? = state.withLock { state in
            state.open.remove(ticket)
            guard let position = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
                return nil
            }
            return state.waiting.remove(at: position).continuation
        }
        continuation?.resume(throwing: CancellationError())
    }

    /// Returns an index, which goes to the first waiting caller.
    package func giveBack(_ index: Int) {
        let continuation: Continuation? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.free.append(index)
                return nil
            }
            let next = state.waiting.removeFirst()
            state.open.remove(next.ticket)
            return next.continuation
        }
        continuation?.resume(returning: index)
    }
}
