import RetintLocks

/// Tasks in the order in which their results are needed; remaining tasks are cancelled when they
/// are no longer needed.
final class OrderedTasks<Value: Sendable>: Sendable {
    private let tasks = Mutex<[Task<Value, any Error>]>([])

    var count: Int { tasks.withLock { $0.count } }

    func append(_ work: @escaping @Sendable () async throws -> Value) {
        tasks.withLock { $0.append(Task(operation: work)) }
    }

    /// Takes the oldest task.
    func removeFirst() -> Task<Value, any Error>? {
        tasks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    func cancel() {
        for task in tasks.withLock({ $0 }) { task.cancel() }
    }

    deinit { cancel() }
}

/// Transforms the elements of a source concurrently, and keeps their order.
package struct OrderedMap<Source: AsyncIteratorProtocol, Output: Sendable>
where Source.Element: Sendable {
    private var source: Source
    private let limit: Int
    private let transform: @Sendable (Source.Element) async throws -> Output
    private let tasks = OrderedTasks<Output>()
    /// How the source ended, once it has been read to the end.
    private var ending: Result<Void, any Error>?

    /// - Parameter limit: the largest number of elements that are read but not yet returned.
    package init(
        _ source: Source, limit: Int,
        _ transform: @escaping @Sendable (Source.Element) async throws -> Output
    ) {
        (self.source, self.limit, self.transform) = (source, limit, transform)
    }

    /// The next result; nil at the end.
    ///
    /// - Throws: the source's error, after the results of all elements before it; the error of
    ///   `transform`; `CancellationError` if the task is cancelled.
    package mutating func next() async throws -> Output? {
        try Task.checkCancellation()
        await fill()
        guard let task = tasks.removeFirst() else {
            try ending?.get()
            return nil
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Reads elements until the limit is reached.
    private mutating func fill() async {
        while ending == nil, tasks.count < limit {
            do {
                guard let element = try await source.next() else {
                    ending = .success(())
                    return
                }
                tasks.append { [transform] in try await transform(element) }
            } catch {
                ending = .failure(error)
            }
        }
    }
}
