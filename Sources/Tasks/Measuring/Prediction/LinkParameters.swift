extension BenchmarkReport {
    /// The cost of messages between ranks.
    public struct LinkParameters: Codable, Hashable, Sendable {
        /// The time from the start of a message to its arrival, without its bytes, in seconds.
        public var latencySeconds: Double
        /// Bytes per second that a rank sends while it receives as many.
        public var bytesPerSecond: Double
        /// The time of each of many simultaneous messages, without its bytes, in seconds.
        public var messageSeconds: Double
        /// The time to add a byte of float32 values to others, in seconds.
        public var sumSecondsPerByte: Double
        /// The slowdown of computation for each byte that is sent at the same time, in seconds: the
        /// operating system and MPI copy bytes with the same processors.
        public var lostSecondsPerByte: Double
    }
}

extension BenchmarkReport.LinkParameters {
    /// The bytes that each rank sends, and receives, to sum a bucket: the shares that others sum,
    /// then the sum of its own share, to each other rank.
    static func traffic(_ bytes: Int, ranks: Int) -> Double {
        2 * Double(bytes) * Double(ranks - 1) / Double(ranks)
    }

    /// How long the sum of a bucket keeps the link busy, in seconds.
    func busySeconds(_ bytes: Int, ranks: Int) -> Double {
        let traffic = Self.traffic(bytes, ranks: ranks)
        return 2 * Double(ranks - 1) * messageSeconds + traffic / bytesPerSecond
            + traffic / 2 * sumSecondsPerByte
    }

    /// How long the sum of a bucket takes: two rounds of messages.
    public func sumSeconds(_ bytes: Int, ranks: Int) -> Double {
        busySeconds(bytes, ranks: ranks) + 2 * latencySeconds
    }

    /// The slowdown of computation while a bucket is sent, in seconds.
    func lostSeconds(_ bytes: Int, ranks: Int) -> Double {
        Self.traffic(bytes, ranks: ranks) * lostSecondsPerByte
    }
}

extension BenchmarkReport.LinkParameters {
    /// On a busy machine, a large sum may take no longer than a small one.
    private static let leastSecondsPerByte = 1e-11

    /// Latency and bandwidth fitted to the measured times of the smallest and the largest sum.
    ///
    /// Sizes in between are not useful: a burst of a few hundred kilobytes is often faster than the
    /// sustained rate of the link.
    ///
    /// - Parameter sums: sums of at least two sizes, from the smallest to the largest.
    init(
        fitting sums: [BenchmarkReport.RankReport.Sum], ranks: Int, messageSeconds: Double,
        sumSecondsPerByte: Double, lostSecondsPerByte: Double
    ) {
        let (small, large) = (sums[0], sums[sums.count - 1])
        let slope = max(
            (large.seconds - small.seconds) / Double(large.bytes - small.bytes),
            Self.leastSecondsPerByte)
        let first = small.seconds - slope * Double(small.bytes)
        let secondsPerByte = slope * Double(ranks) / Double(ranks - 1)
        self.init(
            latencySeconds: max(first / 2 - Double(ranks - 1) * messageSeconds, 0),
            bytesPerSecond: 2 / max(secondsPerByte - sumSecondsPerByte, 1e-3 * secondsPerByte),
            messageSeconds: messageSeconds, sumSecondsPerByte: sumSecondsPerByte,
            lostSecondsPerByte: lostSecondsPerByte)
    }
}
