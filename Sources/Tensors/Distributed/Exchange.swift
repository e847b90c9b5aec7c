/// A collective operation in progress: rounds of messages, each started when the previous one is
/// done.
///
/// Only the thread that calls the transport uses it, until it is done.
class Exchange {
    private var open: [TransportRequest] = []
    private let tag: Int
    private(set) var round = 0

    /// - Parameter tag: the tag of its messages; operations that are in progress at the same time
    ///   have different tags, because ranks need not finish them in the same order.
    init(tag: Int) { self.tag = tag }

    /// Begins a round.
    ///
    /// - Returns: false if there are no more.
    func begin(round: Int, _ transport: any Transport) throws(RankError) -> Bool { false }

    /// Sends and receives as much as possible.
    ///
    /// - Returns: whether the operation is done.
    final func proceed(_ transport: any Transport) throws(RankError) -> Bool {
        while true {
            while let request = open.last {
                guard try transport.isDone(request) else { return false }
                open.removeLast()
            }
            guard try begin(round: round, transport) else { return true }
            round += 1
        }
    }

    final func send(
        _ bytes: UnsafeRawBufferPointer, to rank: Int, _ transport: any Transport
    ) throws(RankError) {
        for part in Self.parts(bytes.count) {
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[part])
            open.append(try transport.send(bytes, to: rank, tag: tag))
        }
    }

    final func receive(
        _ bytes: UnsafeMutableRawBufferPointer, from rank: Int, _ transport: any Transport
    ) throws(RankError) {
        for part in Self.parts(bytes.count) {
            let bytes = UnsafeMutableRawBufferPointer(rebasing: bytes[part])
            open.append(try transport.receive(bytes, from: rank, tag: tag))
        }
    }

    /// MPI counts bytes by 32-bit numbers.
    private static func parts(_ count: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: 1 << 30).map { $0..<min($0 + 1 << 30, count) }
    }
}

/// The part of `0..<count` that a rank owns: sizes differ by at most one.
package func share(of count: Int, rank: Int, size: Int) -> Range<Int> {
    count * rank / size..<count * (rank + 1) / size
}
