/// Gives every rank the same number of bytes from each.
final class FixedGather: Exchange {
    private let own: UnsafeRawBufferPointer
    private let all: UnsafeMutableRawBufferPointer

    /// - Parameter all: room for the bytes of all ranks, in their order.
    init(_ own: UnsafeRawBufferPointer, into all: UnsafeMutableRawBufferPointer, tag: Int) {
        (self.own, self.all) = (own, all)
        super.init(tag: tag)
    }

    override func begin(round: Int, _ transport: any Transport) throws(RankError) -> Bool {
        guard round == 0 else { return false }
        for rank in 0..<transport.size {
            let place = UnsafeMutableRawBufferPointer(
                rebasing: all[rank * own.count..<(rank + 1) * own.count])
            if rank == transport.rank {
                place.copyMemory(from: own)
            } else {
                try receive(place, from: rank, transport)
                try send(own, to: rank, transport)
            }
        }
        return true
    }
}

/// Gives some ranks the bytes of all, whose counts differ: counts first, then the bytes.
final class Gather: Exchange {
    private let own: UnsafeMutableRawBufferPointer
    private let ownCount: UnsafeMutableBufferPointer<Int>
    private let counts: UnsafeMutableBufferPointer<Int>
    private var places: [UnsafeMutableRawBufferPointer] = []
    private let receivers: Range<Int>

    /// - Parameter receivers: the ranks that receive them.
    init(_ bytes: [UInt8], to receivers: Range<Int>, size: Int, tag: Int) {
        own = .allocate(byteCount: bytes.count, alignment: 1)
        own.copyBytes(from: bytes)
        ownCount = .allocate(capacity: 1)
        ownCount.initialize(repeating: bytes.count)
        counts = .allocate(capacity: size)
        counts.initialize(repeating: 0)
        self.receivers = receivers
        super.init(tag: tag)
    }

    deinit {
        for place in places + [own] { place.deallocate() }
        counts.deallocate()
        ownCount.deallocate()
    }

    /// The bytes of each rank, once the operation is done; empty on ranks that do not receive them.
    var result: [[UInt8]] { places.map { Array($0) } }

    override func begin(round: Int, _ transport: any Transport) throws(RankError) -> Bool {
        guard round < 2 else { return false }
        if round == 1, receivers.contains(transport.rank) {
            places = counts.map { .allocate(byteCount: $0, alignment: 1) }
        }
        let sent = round == 0 ? UnsafeRawBufferPointer(ownCount) : UnsafeRawBufferPointer(own)
        for rank in 0..<transport.size {
            if receivers.contains(transport.rank) {
                let place = round == 0 ? count(of: rank) : places[rank]
                if rank == transport.rank {
                    place.copyMemory(from: sent)
                } else {
                    try receive(place, from: rank, transport)
                }
            }
            if receivers.contains(rank), rank != transport.rank {
                try send(sent, to: rank, transport)
            }
        }
        return true
    }

    private func count(of rank: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(
            UnsafeMutableBufferPointer(rebasing: counts[rank...rank]))
    }
}
