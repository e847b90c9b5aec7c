import RetintDistributed

/// Values that are summed to measure how long that takes.
final class SumBuffers {
    private let buffers: [UnsafeMutableBufferPointer<Float>]

    init(_ counts: [Int]) {
        buffers = counts.map { count in
            let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: count)
            buffer.initialize(repeating: 0)
            return buffer
        }
    }

    deinit { for buffer in buffers { buffer.deallocate() } }

    func start(_ ranks: Communicator, _ channel: Int) {
        for (index, buffer) in buffers.enumerated() {
            ranks.startSum(buffer, channel: channel + index, schedule: .prompt)
        }
    }

    func areDone(_ ranks: Communicator, _ channel: Int) -> Bool {
        buffers.indices.allSatisfy { ranks.isSumDone(channel: channel + $0) }
    }

    func finish(_ ranks: Communicator, _ channel: Int) throws {
        for index in buffers.indices { try ranks.finishSum(channel: channel + index) }
    }

    /// Adds the second buffer to the first.
    func add() {
        guard let sums = buffers[0].baseAddress, let addends = buffers[1].baseAddress else {
            return
        }
        addForMeasurement(sums, addends, buffers[0].count)
    }
}
