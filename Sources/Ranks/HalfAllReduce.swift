import CRanks

/// As ``AllReduce``, with half as many bytes: values that are rounded to float16 are sent as such,
/// and summed in float32. What is lost of a sum counts as lost by the rank that computes it.
final class HalfAllReduce: Exchange {
    private let values: UnsafeMutableBufferPointer<Float>
    private let losses: UnsafeMutablePointer<Float>
    /// The values of this rank, then the sums of all.
    private let halves: UnsafeMutableBufferPointer<UInt16>
    /// The values of other ranks that this one sums.
    private let received: UnsafeMutableBufferPointer<UInt16>
    private let sums, addends: UnsafeMutableBufferPointer<Float>

    /// - Parameters:
    ///   - values: rounded to float16; they stay in place until the operation is done.
    ///   - losses: of each value; those of this rank's sums are added.
    init(
        _ values: UnsafeMutableBufferPointer<Float>, losses: UnsafeMutablePointer<Float>,
        rank: Int, size: Int, tag: Int
    ) {
        (self.values, self.losses) = (values, losses)
        let own = share(of: values.count, rank: rank, size: size).count
        halves = .allocate(capacity: values.count)
        received = .allocate(capacity: own * size)
        (sums, addends) = (.allocate(capacity: own), .allocate(capacity: own))
        super.init(tag: tag)
    }

    deinit {
        for buffer in [halves, received] { buffer.deallocate() }
        for buffer in [sums, addends] { buffer.deallocate() }
    }

    override func begin(round: Int, _ transport: any Transport) throws(RankError) -> Bool {
        switch round {
        case 0: try distribute(transport)
        case 1:
            sum(transport.rank, transport.size)
            try collect(transport)
        default:
            expand()
            return false
        }
        return true
    }

    private func part(_ rank: Int, _ transport: any Transport) -> UnsafeMutableRawBufferPointer {
        let range = share(of: values.count, rank: rank, size: transport.size)
        return UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: halves[range]))
    }

    private func distribute(_ transport: any Transport) throws(RankError) {
        if let values = values.baseAddress {
            rt_ranks_to_halves(halves.baseAddress, values, halves.count)
        }
        let own = sums.count
        for rank in otherRanks(transport) {
            let place = UnsafeMutableBufferPointer(
                rebasing: received[rank * own..<(rank + 1) * own])
            try receive(UnsafeMutableRawBufferPointer(place), from: rank, transport)
            try send(UnsafeRawBufferPointer(part(rank, transport)), to: rank, transport)
        }
    }

    /// Sums the own share, from rank 0 to the last, and rounds the sums.
    private func sum(_ rank: Int, _ size: Int) {
        let first = share(of: values.count, rank: rank, size: size).lowerBound
        let count = sums.count
        guard count > 0, let sums = sums.baseAddress, let addends = addends.baseAddress,
            let halves = halves.baseAddress, let received = received.baseAddress
        else { return }
        for other in 0..<size {
            let source = other == rank ? halves + first : received + other * count
            rt_ranks_from_halves(other == 0 ? sums : addends, source, count)
            if other > 0 { rt_ranks_add(sums, addends, count) }
        }
        // What was lost of the values themselves stays for the next step.
        addends.update(repeating: 0, count: count)
        rt_ranks_round(sums, addends, count)
        rt_ranks_add(losses + first, addends, count)
        rt_ranks_to_halves(halves + first, sums, count)
    }

    private func collect(_ transport: any Transport) throws(RankError) {
        for rank in otherRanks(transport) {
            try receive(part(rank, transport), from: rank, transport)
            let own = UnsafeRawBufferPointer(part(transport.rank, transport))
            try send(own, to: rank, transport)
        }
    }

    private func expand() {
        guard let values = values.baseAddress, let halves = halves.baseAddress else { return }
        rt_ranks_from_halves(values, halves, self.values.count)
    }
}
