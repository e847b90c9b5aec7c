import CRanks

/// Adds to each value what was lost of it before, rounds it to half precision, and keeps what is
/// lost.
package func roundKeepingLosses(
    _ values: UnsafeMutablePointer<Float>, _ losses: UnsafeMutablePointer<Float>, _ count: Int
) {
    rt_ranks_round(values, losses, count)
}

/// Replaces values by their sums over all ranks, the same bits on each and in each run.
///
/// Each rank sums a share of the values, in the order of the ranks, and sends the sums to all: as
/// many bytes as a ring takes. MPI_Allreduce may choose another order for other sizes.
final class AllReduce: Exchange {
    private let values: UnsafeMutableBufferPointer<Float>
    private let scratch: Scratch
    private var received: UnsafeMutableBufferPointer<Float>?

    /// - Parameter values: stay in place until the operation is done.
    init(_ values: UnsafeMutableBufferPointer<Float>, _ scratch: Scratch, tag: Int) {
        (self.values, self.scratch) = (values, scratch)
        super.init(tag: tag)
    }

    deinit { release() }

    private func release() {
        received.map(scratch.put)
        received = nil
    }

    override func begin(round: Int, _ transport: any Transport) throws(RankError) -> Bool {
        switch round {
        case 0: try distribute(transport)
        case 1:
            sum(transport.rank, transport.size)
            release()
            try collect(transport)
        default: return false
        }
        return true
    }

    private func part(_ rank: Int, _ transport: any Transport) -> UnsafeMutableRawBufferPointer {
        let range = share(of: values.count, rank: rank, size: transport.size)
        return UnsafeMutableRawBufferPointer(
            UnsafeMutableBufferPointer(rebasing: values[range]))
    }

    /// Sends each rank the values that it sums.
    private func distribute(_ transport: any Transport) throws(RankError) {
        let own = share(of: values.count, rank: transport.rank, size: transport.size).count
        let room = scratch.take(own * transport.size)
        received = room
        for rank in otherRanks(transport) {
            let place = UnsafeMutableBufferPointer(rebasing: room[rank * own..<(rank + 1) * own])
            try receive(UnsafeMutableRawBufferPointer(place), from: rank, transport)
            try send(UnsafeRawBufferPointer(part(rank, transport)), to: rank, transport)
        }
    }

    /// Sums the own share, from rank 0 to the last.
    private func sum(_ rank: Int, _ size: Int) {
        let range = share(of: values.count, rank: rank, size: size)
        guard !range.isEmpty, let values = values.baseAddress, let room = received?.baseAddress
        else { return }
        let (own, count) = (values + range.lowerBound, range.count)
        let sum = rank == 0 ? own : room
        for other in 1..<size {
            rt_ranks_add(sum, other == rank ? own : room + other * count, count)
        }
        if rank != 0 { own.update(from: sum, count: count) }
    }

    /// Sends the sums of the own share to all.
    private func collect(_ transport: any Transport) throws(RankError) {
        for rank in otherRanks(transport) {
            try receive(part(rank, transport), from: rank, transport)
            let own = UnsafeRawBufferPointer(part(transport.rank, transport))
            try send(own, to: rank, transport)
        }
    }
}

/// The other ranks, from the next one on: not all send to the same one at a time.
func otherRanks(_ transport: any Transport) -> [Int] {
    (1..<transport.size).map { (transport.rank + $0) % transport.size }
}

/// Memory for what is received, kept for the next operation: fresh pages cost more than sums.
///
/// Used by the thread that calls the transport alone.
final class Scratch: @unchecked Sendable {
    private var free: [UnsafeMutableBufferPointer<Float>] = []

    deinit { for buffer in free { buffer.deallocate() } }

    func take(_ count: Int) -> UnsafeMutableBufferPointer<Float> {
        if let index = free.firstIndex(where: { $0.count >= count }) {
            return free.remove(at: index)
        }
        return .allocate(capacity: count)
    }

    func put(_ buffer: UnsafeMutableBufferPointer<Float>) { free.append(buffer) }
}
