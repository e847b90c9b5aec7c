import Glibc
import RetintLocks

/// The processes of a job that train together, each with a number: its rank.
///
/// Started by `mpirun` or `srun`, a process is one of many; otherwise it is the only one.
/// Operations are collective: all ranks call the same ones in the same order.
public final class Communicator: Sendable {
    /// The number of this process, from 0.
    public let rank: Int
    /// The number of processes.
    public let size: Int
    /// Nil for a single process.
    private let messenger: Messenger?
    private let waited = Mutex(Duration.zero)
    private let sums = Mutex(StartedSums())
    private let scratch = Scratch()

    /// A single process.
    public static let single = Communicator()

    private init() { (rank, size, messenger) = (0, 1, nil) }

    /// - Parameter connect: runs on the thread that calls the transport.
    package init(_ connect: @escaping () throws(RankError) -> any Transport) throws(RankError) {
        let messenger = try Messenger(connect)
        (self.messenger, rank, size) = (messenger, messenger.rank, messenger.size)
    }

    private static let connected = Mutex<Communicator?>(nil)

    /// The job that a launcher started this process for; ``single`` without one.
    ///
    /// The first call starts MPI. After it, the process must not fork.
    ///
    /// - Throws: ``RankError`` if there is a launcher, but no library for MPI, or one for another
    ///   MPI than the launcher's.
    public static func world() throws(RankError) -> Communicator {
        guard let job = LaunchedJob() else { return single }
        return try connected.withLock { connected throws(RankError) in
            if let connected { return connected }
            let new = try Communicator(job)
            connected = new
            return new
        }
    }

    private convenience init(_ job: LaunchedJob) throws(RankError) {
        let library: MPILibrary
        do throws(RankError) {
            library = try MPILibrary.load()
        } catch {
            throw RankError("\(job.variable) says that there are \(job.size) ranks, but \(error)")
        }
        try self.init { () throws(RankError) in try MPITransport(library) }
        guard size == job.size else {
            throw RankError(
                "\(library.path): MPI sees \(size) ranks, the launcher started \(job.size) "
                    + "(\(job.variable)), so that it is another MPI's; \(MPILibrary.advice)")
        }
    }

    /// The job of ``world()``, if it has been called.
    public static var current: Communicator { connected.withLock { $0 } ?? single }

    /// The number of this process among those of its job on this machine, from 0; nil for a process
    /// without a job.
    package static var rankOnMachine: Int? { LaunchedJob.rankOnMachine() }

    /// Waits for all ranks, and ends MPI. Nothing else may be called afterwards.
    public func finish() throws(RankError) { try messenger?.finish() }

    /// Ends all ranks, this one included.
    ///
    /// - Parameter code: what the launcher returns.
    public func abort(_ code: Int32) -> Never {
        if let messenger {
            // MPI may hang if a rank or the network is gone.
            alarm(5)
            signal(SIGALRM) { _ in _exit(1) }
            messenger.abort(code)
        }
        _exit(code)
    }

    /// How long callers have waited for other ranks.
    package var waitingTime: Duration { waited.withLock { $0 } }
}

// MARK: Operations

extension Communicator {
    /// Tags of operations that are immediately waited for. Those of `startSum` are above.
    private static let tag = 0
    private static let firstSumTag = 16
    /// MPI has at least this many.
    private static let tags = 32_000

    /// Starts to replace values by their sums over all ranks, added in the order of the ranks.
    ///
    /// - Parameters:
    ///   - values: stay in place, and are not used, until ``finishSum(channel:)``.
    ///   - losses: the errors of rounding each value to float16, to send them as such; nil for
    ///     float32.
    ///   - channel: different for sums that are in progress at the same time.
    ///   - schedule: nil for that of ``measuring(_:_:)``.
    package func startSum(
        _ values: UnsafeMutableBufferPointer<Float>, losses: UnsafeMutablePointer<Float>? = nil,
        channel: Int, schedule: SumSchedule? = nil
    ) {
        guard let messenger else { return }
        let tag = Self.firstSumTag + channel % (Self.tags - Self.firstSumTag)
        let exchange =
            losses.map { HalfAllReduce(values, losses: $0, scratch, tag: tag) }
            ?? FloatAllReduce(values, scratch, tag: tag)
        let schedule = schedule ?? sums.withLock { $0.note(start: values.count) }
        guard schedule != .never else { return }
        let order = Messenger.Order(exchange)
        sums.withLock { sums in
            sums.orders[channel] = order
            if schedule == .afterBackward { sums.delayed.append(order) }
        }
        if schedule == .prompt { messenger.start(order) }
    }

    /// Waits for the sums that were started with this channel.
    package func finishSum(channel: Int) throws(RankError) {
        guard let messenger else { return }
        let order = sums.withLock { $0.take(channel, messenger) }
        defer { sums.withLock { $0.times?.end = .now } }
        if let order { try wait(for: order, messenger) }
    }

    /// Whether ``finishSum(channel:)`` would not wait.
    package func isSumDone(channel: Int) -> Bool {
        guard let messenger, let order = sums.withLock({ $0.orders[channel] }) else { return true }
        return messenger.isDone(order)
    }

    /// Runs a step whose sums are sent by a schedule, and records when it requests them.
    package func measuring(
        _ schedule: SumSchedule, _ step: () throws -> Void
    ) rethrows -> SumTimes {
        sums.withLock { ($0.schedule, $0.times) = (schedule, SumTimes()) }
        defer { sums.withLock { ($0.schedule, $0.times) = (.prompt, nil) } }
        try step()
        return sums.withLock { $0.times } ?? SumTimes()
    }

    /// Sends messages of one value to the next rank and receives as many, all at once.
    package func exchangeMessages(_ count: Int) throws(RankError) {
        guard let messenger else { return }
        try wait(for: messenger.start(MessageBurst(count, tag: Self.tag)), messenger)
    }

    private func wait(for order: Messenger.Order, _ messenger: Messenger) throws(RankError) {
        let clock = ContinuousClock(), start = clock.now
        defer { waited.withLock { $0 += clock.now - start } }
        try messenger.wait(for: order)
    }

    /// Gives each rank the same number of bytes from all.
    ///
    /// - Parameter all: room for the bytes of all ranks, in their order.
    package func gather(
        _ own: UnsafeRawBufferPointer, into all: UnsafeMutableRawBufferPointer
    ) throws(RankError) {
        guard let messenger else { return all.copyMemory(from: own) }
        let exchange = FixedGather(own, into: all, tag: Self.tag)
        try wait(for: messenger.start(exchange), messenger)
    }

    /// The bytes of each rank, for all ranks.
    package func gather(_ bytes: [UInt8]) throws(RankError) -> [[UInt8]] {
        try gather(bytes, to: 0..<size)
    }

    /// The bytes of each rank, on rank 0; empty on others.
    package func gatherToFirst(_ bytes: [UInt8]) throws(RankError) -> [[UInt8]] {
        try gather(bytes, to: 0..<1)
    }

    private func gather(
        _ bytes: [UInt8], to receivers: Range<Int>
    ) throws(RankError) -> [[UInt8]] {
        guard let messenger else { return [bytes] }
        let exchange = Gather(bytes, to: receivers, size: size, tag: Self.tag)
        try wait(for: messenger.start(exchange), messenger)
        return exchange.result
    }

    /// Rank 0's numbers, for all ranks.
    package func broadcast(_ scalars: [Float]) throws(RankError) -> [Float] {
        guard size > 1 else { return scalars }
        let bytes = rank == 0 ? scalars.withUnsafeBytes { Array($0) } : []
        return try gather(bytes)[0].withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    /// The numbers of each rank, on rank 0; empty on others.
    package func gatherToFirst(scalars: [Float]) throws(RankError) -> [[Float]] {
        try gatherToFirst(scalars.withUnsafeBytes { Array($0) }).map { bytes in
            bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        }
    }
}

extension Communicator: Hashable {
    /// Whether both are the same communicator.
    public static func == (first: Communicator, second: Communicator) -> Bool { first === second }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// MARK: Numbers

extension Communicator {
    /// The integers of each rank, for all ranks.
    package func gather(integers: [Int]) throws(RankError) -> [[Int]] {
        try gather(integers.withUnsafeBytes { Array($0) }).map { bytes in
            bytes.withUnsafeBytes { Array($0.bindMemory(to: Int.self)) }
        }
    }

    /// The numbers of each rank, bit by bit, for all ranks.
    package func gather(numbers: [Double]) throws(RankError) -> [[Double]] {
        try gather(
            integers: numbers.map { Int(bitPattern: UInt(truncatingIfNeeded: $0.bitPattern)) }
        )
        .map { $0.map { Double(bitPattern: UInt64(UInt(bitPattern: $0))) } }
    }
}
