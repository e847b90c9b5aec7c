import CRetintDistributed

/// Sums values over all ranks, with the same bits on each and in each run.
///
/// Each rank sums a share of the values, in the order of the ranks, and sends the sums to all: the
/// same number of bytes as a ring. MPI_Allreduce may choose another order for other sizes.
class AllReduce<Element>: Exchange {
    /// This rank's values, and finally the sums over all.
    final let values: UnsafeMutableBufferPointer<Element>
    private let scratch: Scratch
    private var received: UnsafeMutableRawBufferPointer?

    /// - Parameter values: stay in place until the operation is done.
    init(_ values: UnsafeMutableBufferPointer<Element>, _ scratch: Scratch, tag: Int) {
        (self.values, self.scratch) = (values, scratch)
        super.init(tag: tag)
    }

    deinit { release() }

    private func release() {
        received.map(scratch.put)
        received = nil
    }

    /// Called before values are sent.
    func prepare() {}

    /// Sums a share of the values.
    ///
    /// - Parameters:
    ///   - share: the range of the share among the values; not empty.
    ///   - parts: the values of each rank, this rank's at `own`. The sums replace the latter.
    func sum(
        _ share: Range<Int>, _ parts: [UnsafeMutablePointer<Element>], own: Int
    ) {}

    /// Now all values are sums.
    func finish() {}

    final override func begin(
        round: Int, _ transport: any Transport
    ) throws(RankError) -> Bool {
        switch round {
        case 0:
            prepare()
            try distribute(transport)
        case 1:
            sum(transport)
            release()
            try collect(transport)
        default:
            finish()
            return false
        }
        return true
    }

    private func part(_ rank: Int, _ transport: any Transport) -> UnsafeMutableRawBufferPointer {
        let range = share(of: values.count, rank: rank, size: transport.size)
        return UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: values[range]))
    }

    /// Sends each rank the values that it sums.
    private func distribute(_ transport: any Transport) throws(RankError) {
        let bytes = part(transport.rank, transport).count
        let room = scratch.take(bytes * transport.size)
        received = room
        for rank in otherRanks(transport) {
            let place = UnsafeMutableRawBufferPointer(
                rebasing: room[rank * bytes..<(rank + 1) * bytes])
            try receive(place, from: rank, transport)
            try send(UnsafeRawBufferPointer(part(rank, transport)), to: rank, transport)
        }
    }

    private func sum(_ transport: any Transport) {
        let own = share(of: values.count, rank: transport.rank, size: transport.size)
        guard !own.isEmpty, let values = values.baseAddress, let room = received?.baseAddress
        else { return }
        let first = room.assumingMemoryBound(to: Element.self)
        let parts = (0..<transport.size).map { rank in
            rank == transport.rank ? values + own.lowerBound : first + rank * own.count
        }
        sum(own, parts, own: transport.rank)
    }

    /// Sends the sums of this rank's share to all.
    private func collect(_ transport: any Transport) throws(RankError) {
        for rank in otherRanks(transport) {
            try receive(part(rank, transport), from: rank, transport)
            let own = UnsafeRawBufferPointer(part(transport.rank, transport))
            try send(own, to: rank, transport)
        }
    }
}

/// Sums in float32.
final class FloatAllReduce: AllReduce<Float> {
    override func sum(
        _ share: Range<Int>, _ parts: [UnsafeMutablePointer<Float>], own: Int
    ) {
        for part in parts.dropFirst() { rt_ranks_add(parts[0], part, share.count) }
        if own > 0 { parts[own].update(from: parts[0], count: share.count) }
    }
}

/// The other ranks, starting with the next one, so that not all send to the same one at once.
func otherRanks(_ transport: any Transport) -> [Int] {
    (1..<transport.size).map { (transport.rank + $0) % transport.size }
}

/// Receive buffers, kept for the next operation: fresh pages cost more than sums.
///
/// Used only by the thread that calls the transport.
final class Scratch: @unchecked Sendable {
    private var free: [UnsafeMutableRawBufferPointer] = []

    deinit { for buffer in free { buffer.deallocate() } }

    func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if let index = free.firstIndex(where: { $0.count >= count }) {
            return free.remove(at: index)
        }
        return .allocate(byteCount: count, alignment: 64)
    }

    func put(_ buffer: UnsafeMutableRawBufferPointer) { free.append(buffer) }
}
