import Glibc

/// The only thread of a rank that calls the transport, and its requests.
///
/// MPI makes progress only while it is called, so the thread polls: at first without pauses while
/// another thread waits, then with short pauses, and with long pauses while all others compute, so
/// that it takes no core from them.
final class Messenger: @unchecked Sendable {
    /// A started operation.
    final class Order: @unchecked Sendable {
        let exchange: Exchange
        /// Guarded by the monitor.
        fileprivate(set) var result: Result<Void, RankError>?

        init(_ exchange: Exchange) { self.exchange = exchange }
    }

    private enum Ending {
        case finish
        case abort(Int32)
    }

    // Guarded by the monitor.
    private let monitor = Monitor()
    private var orders: [Order] = []
    private var waiters = 0
    private var connection: Result<(rank: Int, size: Int), RankError>?
    private var ending: Ending?
    private var end: Result<Void, RankError>?

    /// Polls in a row without a pause while somebody waits: about 0.2 ms.
    private static let eagerPolls = 2000
    /// Microseconds between polls while somebody waits, and while all compute: each poll takes time
    /// from them, and a link keeps sending from the system's buffers in the meantime.
    private static let (shortPause, longPause): (UInt32, UInt32) = (50, 300)

    /// Starts the thread.
    ///
    /// - Parameter connect: runs on it.
    /// - Throws: the error of `connect`.
    init(_ connect: @escaping () throws(RankError) -> any Transport) throws(RankError) {
        start { [self] in run(connect) }
        let result = monitor.withLock { () -> Result<(rank: Int, size: Int), RankError> in
            while true {
                if let connection { return connection }
                monitor.wait()
            }
        }
        (rank, size) = try result.get()
    }

    private(set) var rank = 0
    private(set) var size = 1

    // MARK: Other threads

    func start(_ exchange: Exchange) -> Order {
        let order = Order(exchange)
        start(order)
        return order
    }

    func start(_ order: Order) {
        monitor.withLock {
            orders.append(order)
            monitor.notify()
        }
    }

    func wait(for order: Order) throws(RankError) {
        let result = monitor.withLock { () -> Result<Void, RankError> in
            waiters += 1
            defer { waiters -= 1 }
            while true {
                if let result = order.result ?? end { return result }
                monitor.wait()
            }
        }
        try result.get()
    }

    func isDone(_ order: Order) -> Bool {
        monitor.withLock { order.result != nil || end != nil }
    }

    /// Waits for all ranks, and ends the thread.
    func finish() throws(RankError) { try end(by: .finish).get() }

    /// Ends all ranks.
    func abort(_ code: Int32) { _ = end(by: .abort(code)) }

    private func end(by ending: Ending) -> Result<Void, RankError> {
        monitor.withLock {
            self.ending = self.ending ?? ending
            monitor.notify()
            while true {
                if let end { return end }
                monitor.wait()
            }
        }
    }

    // MARK: The thread

    private func start(_ work: @escaping () -> Void) {
        let body = Unmanaged.passRetained(ThreadBody(work)).toOpaque()
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, ThreadBody.run, body)
        precondition(code == 0, "cannot start a thread")
        pthread_detach(thread)
    }

    private func run(_ connect: () throws(RankError) -> any Transport) {
        let transport: any Transport
        do throws(RankError) {
            transport = try connect()
        } catch {
            return monitor.withLock {
                connection = .failure(error)
                monitor.notify()
            }
        }
        monitor.withLock {
            connection = .success((transport.rank, transport.size))
            monitor.notify()
        }
        serve(transport)
    }

    private func serve(_ transport: any Transport) {
        var active: [Order] = []
        var idlePolls = 0
        while true {
            let (new, ending, isAwaited) = next(blocks: active.isEmpty)
            if case .abort(let code) = ending { transport.abort(code) }
            if ending != nil, active.isEmpty, new.isEmpty { return close(transport) }
            active += new
            let count = active.count
            active.removeAll { proceed($0, transport) }
            idlePolls = active.count < count || !new.isEmpty ? 0 : idlePolls + 1
            guard idlePolls > 0 else { continue }
            if isAwaited, idlePolls < Self.eagerPolls {
                sched_yield()
            } else {
                usleep(isAwaited ? Self.shortPause : Self.longPause)
            }
        }
    }

    private func next(blocks: Bool) -> (new: [Order], ending: Ending?, isAwaited: Bool) {
        monitor.withLock {
            while blocks, orders.isEmpty, ending == nil { monitor.wait() }
            defer { orders = [] }
            return (orders, ending, waiters > 0)
        }
    }

    /// - Returns: whether the operation has ended.
    private func proceed(_ order: Order, _ transport: any Transport) -> Bool {
        let result: Result<Void, RankError>
        do throws(RankError) {
            guard try order.exchange.proceed(transport) else { return false }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        monitor.withLock {
            order.result = result
            monitor.notify()
        }
        return true
    }

    private func close(_ transport: any Transport) {
        let result: Result<Void, RankError>
        do throws(RankError) {
            try transport.finish()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        monitor.withLock {
            end = result
            monitor.notify()
        }
    }
}

/// The body of a new thread.
private final class ThreadBody {
    private let work: () -> Void

    init(_ work: @escaping () -> Void) { self.work = work }

    static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        guard let body = $0 else { return nil }
        Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().work()
        return nil
    }
}
