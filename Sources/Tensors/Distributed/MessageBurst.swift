import CRetintDistributed

/// Many simultaneous messages of one value, to the next rank and from the previous one, to measure
/// the cost of a message without its bytes.
final class MessageBurst: Exchange {
    private let values: UnsafeMutableBufferPointer<Float>

    init(_ count: Int, tag: Int) {
        values = .allocate(capacity: 2 * count)
        values.initialize(repeating: 0)
        super.init(tag: tag)
    }

    deinit { values.deallocate() }

    override func begin(round: Int, _ transport: any Transport) throws(RankError) -> Bool {
        guard round == 0 else { return false }
        let (rank, size) = (transport.rank, transport.size)
        let half = values.count / 2
        for index in 0..<half {
            let sent = UnsafeBufferPointer(rebasing: values[index..<index + 1])
            let received = UnsafeMutableBufferPointer(
                rebasing: values[half + index..<half + index + 1])
            try receive(
                UnsafeMutableRawBufferPointer(received), from: (rank + size - 1) % size, transport)
            try send(UnsafeRawBufferPointer(sent), to: (rank + 1) % size, transport)
        }
        return true
    }
}

/// Adds values like a sum over ranks, to measure the time.
package func addForMeasurement(
    _ sums: UnsafeMutablePointer<Float>, _ addends: UnsafeMutablePointer<Float>, _ count: Int
) {
    rt_ranks_add(sums, addends, count)
}
