extension BenchmarkReport {
    /// The predicted time of a training step on a number of ranks.
    ///
    /// Each rank computes. As soon as the gradients of a bucket are ready, they wait for the link,
    /// which sends one bucket after the other. While it sends, computation is slower. When the
    /// backward pass is done, the rank waits for the last bucket, and updates the weights.
    public struct StepPrediction: Codable, Hashable, Sendable {
        /// The number of ranks.
        public let ranks: Int
        /// The images of all ranks together.
        public let batch: Int
        /// The whole step.
        public let stepSeconds: Double
        /// The part of this that each rank waits for messages after its backward pass.
        public let waitedSeconds: Double
        /// The images of all ranks, divided by ``stepSeconds``.
        public let imagesPerSecond: Double
        /// ``imagesPerSecond`` divided by that of the same number of ranks that each have the
        /// measured share of a batch and send nothing.
        public let efficiency: Double

        /// ``waitedSeconds`` divided by ``stepSeconds``.
        public let waitedShare: Double

        /// The allowed numbers of ranks.
        public static let rankRange = 1...65_536
    }
}

extension BenchmarkReport.StepTimeline {
    /// - Returns: the time of the step, and the part of it that is waiting for messages.
    func seconds(on ranks: Int, _ link: BenchmarkReport.LinkParameters) -> (
        step: Double, waited: Double
    ) {
        guard ranks > 1, !buckets.isEmpty else { return (seconds, 0) }
        var progress = SendingProgress()
        for bucket in buckets {
            progress.compute(to: bucket.readySeconds)
            progress.send(
                for: link.busySeconds(bucket.bytes, ranks: ranks),
                losing: link.lostSeconds(bucket.bytes, ranks: ranks))
        }
        progress.compute(to: backwardSeconds)
        // The last bucket is still in transit when the link is free.
        let waited = max(progress.sent + 2 * link.latencySeconds - progress.clock, 0)
        return (progress.clock + waited + updateSeconds, waited)
    }
}

/// A rank that computes while its link sends.
private struct SendingProgress {
    /// Seconds since the start of the step.
    private(set) var clock = 0.0
    /// The part of this that computation alone would have taken.
    private var computed = 0.0
    /// The buckets that the link sends, each with the time when it is done, and the speed of
    /// computation meanwhile as a fraction.
    private var sending: [(end: Double, speed: Double)] = []
    /// The first bucket that is not done.
    private var next = 0

    /// When the link has sent all buckets.
    var sent: Double { sending.last?.end ?? 0 }

    mutating func send(for seconds: Double, losing lost: Double) {
        sending.append((max(sent, clock) + seconds, seconds > 0 ? max(1 - lost / seconds, 0) : 1))
    }

    mutating func compute(to target: Double) {
        while computed < target {
            while next < sending.count, sending[next].end <= clock { next += 1 }
            guard next < sending.count else {
                clock += target - computed
                computed = target
                return
            }
            let first = sending[next]
            let possible = (first.end - clock) * first.speed
            guard possible >= target - computed else {
                computed += possible
                clock = first.end
                continue
            }
            clock += (target - computed) / first.speed
            computed = target
        }
    }
}
