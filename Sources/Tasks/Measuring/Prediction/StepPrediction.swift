/// How long a training step takes on some ranks, by a model.
///
/// Each rank computes. As soon as the gradients of a bucket are there, they wait for the link,
/// which sends one bucket after the other. While it sends, computing is slower. When the backward
/// pass is done, the rank waits for the last bucket, and updates the weights.
public struct StepPrediction: Codable, Hashable, Sendable {
    /// The number of ranks.
    public let ranks: Int
    /// The images of all ranks together.
    public let batch: Int
    /// The whole step.
    public let stepSeconds: Double
    /// Of these, how long each rank waits for messages after its backward pass.
    public let waitedSeconds: Double
    /// The images of all ranks, divided by ``stepSeconds``.
    public let imagesPerSecond: Double
    /// ``imagesPerSecond`` divided by that of as many ranks, each as fast as one that has the
    /// measured share of a batch and sends nothing.
    public let efficiency: Double

    /// ``waitedSeconds`` divided by ``stepSeconds``.
    public let waitedShare: Double

    /// The numbers of ranks that can be predicted.
    package static let rankRange = 1...65_536
}

extension StepTimeline {
    /// - Returns: how long the step takes, and how long it waits for messages.
    func seconds(on ranks: Int, _ link: LinkParameters) -> (step: Double, waited: Double) {
        guard ranks > 1, !buckets.isEmpty else { return (seconds, 0) }
        var progress = SendingProgress()
        for bucket in buckets {
            progress.compute(to: bucket.readySeconds)
            progress.send(
                for: link.busySeconds(bucket.bytes, ranks: ranks),
                losing: link.lostSeconds(bucket.bytes, ranks: ranks))
        }
        progress.compute(to: backwardSeconds)
        // The last bucket is still on its way when the link is free.
        let waited = max(progress.sent + 2 * link.latencySeconds - progress.clock, 0)
        return (progress.clock + waited + updateSeconds, waited)
    }
}

/// A rank that computes while its link sends.
private struct SendingProgress {
    /// Seconds since the start of the step.
    private(set) var clock = 0.0
    /// Of these, what computing alone would have taken.
    private var computed = 0.0
    /// What the link sends, each with when it is done, and the part of its time that computing
    /// goes on.
    private var sending: [(end: Double, speed: Double)] = []
    /// The first of these that is not done.
    private var next = 0

    /// When the link has sent all.
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
