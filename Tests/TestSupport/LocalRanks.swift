package import Foundation
package import RetintDistributed

/// Runs `body` on several ranks at once, which are threads of this process.
///
/// - Returns: the results, in the order of the ranks.
/// - Throws: the first error of a rank; it ends the others, as a launcher would.
package func onRanks<Result: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Communicator) throws -> Result
) throws -> [Result] {
    let hub = Hub()
    let results = Results<Result>(count)
    let group = DispatchGroup()
    for rank in 0..<count {
        let thread = Thread {
            let result = Swift.Result {
                let ranks = try Communicator { LocalTransport(hub, rank, count) }
                let result = try body(ranks)
                try ranks.finish()
                return result
            }
            if case .failure(let error) = result { hub.fail(error) }
            results[rank] = result
            group.leave()
        }
        thread.stackSize = 8 << 20
        group.enter()
        thread.start()
    }
    group.wait()
    if let error = hub.error { throw error }
    return try (0..<count).map { try results[$0].get() }
}

private final class Results<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [Int: Swift.Result<Value, any Error>] = [:]

    init(_ count: Int) {}

    subscript(rank: Int) -> Swift.Result<Value, any Error> {
        get { lock.withLock { values[rank] ?? .failure(CocoaError(.featureUnsupported)) } }
        set { lock.withLock { values[rank] = newValue } }
    }
}

/// The messages that were sent and not received yet.
private final class Hub: @unchecked Sendable {
    struct Line: Hashable {
        let sender, receiver, tag: Int
    }

    private let lock = NSLock()
    private var messages: [Line: [[UInt8]]] = [:]
    private var failure: (any Error)?

    var error: (any Error)? { lock.withLock { failure } }

    /// Ends the work of all ranks; the first error stays.
    func fail(_ error: any Error) { lock.withLock { failure = failure ?? error } }

    func send(_ message: [UInt8], on line: Line) {
        lock.withLock { messages[line, default: []].append(message) }
    }

    func receive(on line: Line) -> [UInt8]? {
        lock.withLock {
            guard messages[line]?.isEmpty == false else { return nil }
            return messages[line]?.removeFirst()
        }
    }
}

/// Messages between threads. They arrive late now and then, so that operations overtake each other.
private final class LocalTransport: Transport {
    private final class Reception {
        let line: Hub.Line
        let bytes: UnsafeMutableRawBufferPointer
        /// Earlier ones of the same line come first.
        let earlier: Reception?
        var isDone = false

        init(
            _ line: Hub.Line, _ bytes: UnsafeMutableRawBufferPointer, after earlier: Reception?
        ) {
            (self.line, self.bytes, self.earlier) = (line, bytes, earlier)
        }
    }

    private let hub: Hub
    let rank, size: Int
    private var last: [Hub.Line: Reception] = [:]
    private var random: UInt64

    init(_ hub: Hub, _ rank: Int, _ size: Int) {
        (self.hub, self.rank, self.size, random) = (hub, rank, size, UInt64(rank) + 1)
    }

    func send(
        _ bytes: UnsafeRawBufferPointer, to rank: Int, tag: Int
    ) throws(RankError) -> TransportRequest {
        hub.send(Array(bytes), on: Hub.Line(sender: self.rank, receiver: rank, tag: tag))
        let sent = Reception(
            Hub.Line(sender: 0, receiver: 0, tag: 0), .init(start: nil, count: 0),
            after: nil)
        sent.isDone = true
        return TransportRequest(Unmanaged.passRetained(sent).toOpaque())
    }

    func receive(
        _ bytes: UnsafeMutableRawBufferPointer, from rank: Int, tag: Int
    ) throws(RankError) -> TransportRequest {
        let line = Hub.Line(sender: rank, receiver: self.rank, tag: tag)
        let reception = Reception(line, bytes, after: last[line].flatMap { $0.isDone ? nil : $0 })
        last[line] = reception
        return TransportRequest(Unmanaged.passRetained(reception).toOpaque())
    }

    func isDone(_ request: TransportRequest) throws(RankError) -> Bool {
        if hub.error != nil { throw RankError("another rank failed") }
        let reception = Unmanaged<Reception>.fromOpaque(request.handle)
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        guard random >> 62 != 0, complete(reception.takeUnretainedValue()) else { return false }
        reception.release()
        return true
    }

    private func complete(_ reception: Reception) -> Bool {
        if reception.isDone { return true }
        if let earlier = reception.earlier, !complete(earlier) { return false }
        guard let message = hub.receive(on: reception.line) else { return false }
        precondition(message.count == reception.bytes.count, "a message has another length")
        reception.bytes.copyBytes(from: message)
        reception.isDone = true
        return true
    }

    func finish() throws(RankError) {}

    func abort(_ code: Int32) {}
}
