import Foundation
import Retint
import RetintCLI
import Synchronization

/// The calls that are in use, by their numbers. A number that is not names nothing, whoever passes
/// it.
enum Registry {
    private struct State {
        var next: Int64 = 1
        var calls: [Int64: Call] = [:]
    }

    private static let state = Mutex(State())

    static func add(_ call: Call) -> Int64 {
        state.withLock { state in
            defer { state.next += 1 }
            state.calls[state.next] = call
            return state.next
        }
    }

    static subscript(number: Int64) -> Call? {
        state.withLock { $0.calls[number] }
    }

    static func remove(_ number: Int64) {
        state.withLock { $0.calls.removeValue(forKey: number) }?.cancel()
    }
}

/// Work that was started and has, or has not, ended.
final class Call: Sendable {
    /// How a call ended.
    struct Ending: Sendable {
        var status: Int32 = 0
        /// The result, as keys of one JSON object.
        var keys: [String: any Encodable & Sendable] = [:]
        var outputs: [BorrowedTensor] = []
        /// The model that it opened.
        var model: ModelRunner?
    }

    private let result = Mutex<Ending?>(nil)
    private let isEnded = DispatchSemaphore(value: 0)
    private let cancelled = Atomic(false)
    private let task = Mutex<Task<Void, Never>?>(nil)
    /// What a command prints; empty for other calls.
    let output = CommandOutput()

    /// Starts work on a thread of its own, which may block.
    ///
    /// - Returns: the call's number.
    static func start(_ work: @escaping @Sendable (Call) async -> Ending) -> Int64 {
        // Locks may be held by threads that do not exist in a forked process.
        guard !Process.isForked else { return Process.refused }
        let call = Call()
        CallSlots.take(call) { call.begin(work) }
        return Registry.add(call)
    }

    /// - Returns: false if it was cancelled before it began.
    private func begin(_ work: @escaping @Sendable (Call) async -> Ending) -> Bool {
        guard !isCancelled else { return false }
        let executor = ThreadExecutor(name: "retint.call")
        task.withLock { task in
            task = Task(executorPreference: executor) {
                self.finish(await work(self))
                executor.stop()
                CallSlots.free()
            }
            // It may have been cancelled before there was a task.
            if isCancelled { task?.cancel() }
        }
        return true
    }

    /// Ends the call; the first ending counts.
    private func finish(_ ending: Ending) {
        let isFirst = result.withLock { result in
            guard result == nil else { return false }
            result = ending
            return true
        }
        if isFirst { isEnded.signal() }
    }

    /// How it ended; nil if it has not.
    var ending: Ending? { result.withLock { $0 } }

    /// Whether it ended within this time.
    func wait(milliseconds: Int32) -> Bool {
        if ending != nil { return true }
        let time = DispatchTime.now() + .milliseconds(Int(max(milliseconds, 0)))
        guard isEnded.wait(timeout: time) == .success else { return ending != nil }
        // For others that wait.
        isEnded.signal()
        return true
    }

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() {
        cancelled.store(true, ordering: .relaxed)
        if CallSlots.drop(self) { finish(.failed(status: 130, "")) }
        task.withLock { $0?.cancel() }
    }
}

/// Bounds the calls that run at the same time: each has a thread and memory, and a caller
/// may start any number. Others wait in their order.
private enum CallSlots {
    /// Begins a call; returns false if it needs no slot.
    typealias Beginning = @Sendable () -> Bool

    private struct State {
        var running = 0
        var waiting: [(call: Call, begin: Beginning)] = []
    }

    private static let most = max(16, ProcessInfo.processInfo.activeProcessorCount)
    private static let state = Mutex(State())

    static func take(_ call: Call, _ begin: @escaping Beginning) {
        let isFree = state.withLock { state in
            guard state.running < most else {
                state.waiting.append((call, begin))
                return false
            }
            state.running += 1
            return true
        }
        if isFree, !begin() { free() }
    }

    /// Passes the slot of a call that has ended to the next one.
    static func free() {
        while true {
            let next = state.withLock { state -> Beginning? in
                guard !state.waiting.isEmpty else {
                    state.running -= 1
                    return nil
                }
                return state.waiting.removeFirst().begin
            }
            guard let next, !next() else { return }
        }
    }

    /// Forgets a call that waits; returns whether it did.
    static func drop(_ call: Call) -> Bool {
        state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.call === call }) else {
                return false
            }
            state.waiting.remove(at: index)
            return true
        }
    }
}

/// The process that the library was first used in.
enum Process {
    private static let first = getpid()

    /// Whether this process was forked from it: no thread of the library exists here.
    static var isForked: Bool { getpid() != first }

    /// The number of all calls in a forked process, and how they end.
    static let refused: Int64 = -1
    static let refusal = Call.Ending.failed(
        status: 1,
        "this process was forked from one that used retint; start processes with "
            + "the method \"spawn\" or \"forkserver\", or import retint after the fork")
}

extension Call.Ending {
    static func failed(
        status: Int32, _ message: String, file: String = "", place: String = "",
        remedy: String = ""
    ) -> Call.Ending {
        Call.Ending(
            status: status,
            keys: ["error": message, "file": file, "place": place, "remedy": remedy])
    }

    static func failed(_ failure: CommandFailure) -> Call.Ending {
        failed(
            status: failure.status, failure.message, file: failure.file, place: failure.place,
            remedy: failure.remedy)
    }

    /// The JSON object that says how the call ended.
    var json: String {
        let object = JSONObject(keys: keys.merging(["status": status]) { $1 })
        return (try? CommandOutput.json(object)) ?? #"{"status": 1}"#
    }
}

/// Values of several types as one object.
private struct JSONObject: Encodable {
    let keys: [String: any Encodable & Sendable]

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for (name, value) in keys { try container.encode(value, forKey: Key(stringValue: name)) }
    }
}

/// Runs the jobs of one call, one after the other, on a thread of its own: commands block.
final class ThreadExecutor: TaskExecutor, @unchecked Sendable {
    // Guarded by the condition's lock.
    private var jobs: [UnownedJob] = []
    private var isStopped = false
    private let condition = NSCondition()

    init(name: String) {
        let thread = Thread { [self] in work() }
        thread.name = name
        // As of a main thread: networks are walked recursively.
        thread.stackSize = 8 << 20
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.lock()
        jobs.append(job)
        condition.signal()
        condition.unlock()
    }

    /// Ends the thread once there is no job left.
    func stop() {
        condition.lock()
        isStopped = true
        condition.signal()
        condition.unlock()
    }

    private func work() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        condition.lock()
        defer { condition.unlock() }
        while jobs.isEmpty && !isStopped { condition.wait() }
        return jobs.isEmpty ? nil : jobs.removeFirst()
    }
}
