import RetintDistributed
import RetintEngine

/// Measures the training step of several ranks, and the cost of their messages.
///
/// All ranks call the same functions in the same order.
struct RankMeasurement {
    private let subject: BenchmarkSubject
    private let ranks: Communicator
    /// Timed steps.
    private let runs: Int
    /// The values of each bucket.
    private let counts: [Int]

    /// Warms up, and decides how often to measure.
    ///
    /// - Parameter runs: nil for as many as fit in two seconds, but at least 5.
    init(_ subject: BenchmarkSubject, _ ranks: Communicator, runs: Int?) throws {
        (self.subject, self.ranks) = (subject, ranks)
        _ = try subject.program.run(subject.inputs)
        let clock = ContinuousClock(), start = clock.now
        let times = try ranks.measuring(.prompt) { _ = try subject.program.run(subject.inputs) }
        let seconds = (clock.now - start) / .seconds(1)
        counts = times.starts.map(\.count)
        let enough = min(max(2 / max(seconds, 1e-6), 5), 1000)
        self.runs = Int(try ranks.broadcast([Float(runs.map { Double($0) } ?? enough)])[0])
    }

    /// Takes steps with each schedule, and steps while buckets are sent, alternately: a machine
    /// that slows down affects all equally.
    ///
    /// - Parameter sendsMeanwhile: whether to measure how sending buckets slows computation down.
    func turns(
        _ schedules: [SumSchedule], sendsMeanwhile: Bool
    ) throws -> (steps: [MeasuredSteps], lostSecondsPerByte: Double) {
        let buffers = SumBuffers(sendsMeanwhile ? counts : [])
        var all = schedules.map { _ in [Run]() }
        var meanwhile: [(seconds: Double, steps: Int)] = []
        for _ in 0..<runs {
            for (index, schedule) in schedules.enumerated() {
                all[index].append(try step(schedule))
            }
            if sendsMeanwhile { meanwhile.append(try stepsWhileSending(buffers)) }
        }
        // The last schedule is for steps without messages.
        let alone = all[all.count - 1].map(\.seconds).median
        let lost = meanwhile.map { $0.seconds - Double($0.steps) * alone }
        return (try all.map(steps), try lostSecondsPerByte(lost))
    }

    /// A step of this rank.
    private struct Run {
        let seconds, waited: Double
        /// When each bucket is ready, followed by the end of the backward pass.
        let ready: [Double]
    }

    private func steps(_ runs: [Run]) throws -> MeasuredSteps {
        let seconds = try ranks.gather(numbers: runs.map(\.seconds))
        let waited = try ranks.gather(numbers: runs.map(\.waited))
        let ready = (0...counts.count).map { index in runs.map { $0.ready[index] }.median }
        return MeasuredSteps(
            seconds: largest(seconds), waited: mean(waited),
            ready: largest(try ranks.gather(numbers: ready)))
    }

    private func mean(_ values: [[Double]]) -> [Double] {
        values[0].indices.map { index in
            values.reduce(0) { $0 + $1[index] } / Double(values.count)
        }
    }

    private func largest(_ values: [[Double]]) -> [Double] {
        values[0].indices.map { index in values.map { $0[index] }.max() ?? .nan }
    }

    private func step(_ schedule: SumSchedule) throws -> Run {
        try waitForAll()
        let clock = ContinuousClock(), start = clock.now, before = ranks.waitingTime
        let times = try ranks.measuring(schedule) {
            _ = try subject.program.run(subject.inputs)
        }
        let end = clock.now
        let instants = times.starts.map(\.time) + [times.firstWait ?? end]
        return Run(
            seconds: (end - start) / .seconds(1),
            waited: (ranks.waitingTime - before) / .seconds(1),
            ready: instants.map { ($0 - start) / .seconds(1) })
    }

    private func waitForAll() throws { _ = try ranks.gather(integers: [0]) }

    /// - Parameter steps: steps without messages.
    func timeline(_ steps: MeasuredSteps) -> BenchmarkReport.StepTimeline {
        let backward = steps.ready[counts.count]
        return BenchmarkReport.StepTimeline(
            buckets: zip(counts, steps.ready).map { count, ready in
                BenchmarkReport.StepTimeline.Bucket(bytes: 4 * count, readySeconds: ready)
            }, backwardSeconds: backward,
            updateSeconds: max(steps.seconds.median - backward, 0))
    }
}

// MARK: Messages

extension RankMeasurement {
    /// The channels of sums that do not belong to the step.
    private static let channel = 10_000
    private static let repetitions = 5

    /// The sizes of measured single sums, in values, if all buckets together have more.
    private static let sizes = [1 << 10, 1 << 14, 1 << 18, 1 << 21]

    /// Sums of one bucket of several sizes, and of all buckets at once.
    func sums() throws -> [BenchmarkReport.RankReport.Sum] {
        let all = counts.reduce(0, +)
        let single = Self.sizes.filter { $0 < all }.map { [$0] }
        return try ((single.isEmpty ? [[1]] : single) + [counts]).map { counts in
            let buffers = SumBuffers(counts)
            let seconds = try (0...Self.repetitions).map { _ in
                try waitForAll()
                return try ContinuousClock().measure {
                    buffers.start(ranks, Self.channel)
                    try buffers.finish(ranks, Self.channel)
                } / .seconds(1)
            }
            // The first one opens connections.
            let slowest = largest(try ranks.gather(numbers: Array(seconds.dropFirst())))
            return BenchmarkReport.RankReport.Sum(
                bytes: 4 * counts.reduce(0, +), seconds: slowest.median)
        }
    }

    /// Seconds per message when many are sent at once.
    func messageSeconds() throws -> Double {
        let count = 256
        let seconds = try measureSeconds(runs: Self.repetitions, warmup: 1) {
            try waitForAll()
            try ranks.exchangeMessages(count)
        }
        return largest(try ranks.gather(numbers: [seconds.median]))[0] / Double(count)
    }

    /// Seconds to add a byte of values.
    func sumSecondsPerByte() throws -> Double {
        let count = 1 << 20
        let buffers = SumBuffers([count, count])
        let seconds = measureSeconds(runs: 20, warmup: 2) { buffers.add() }
        return largest(try ranks.gather(numbers: [seconds.median]))[0] / Double(4 * count)
    }

    /// Takes steps without messages while buckets are sent, until these are done.
    private func stepsWhileSending(_ buffers: SumBuffers) throws -> (seconds: Double, steps: Int) {
        try waitForAll()
        var steps = 0
        let clock = ContinuousClock(), start = clock.now
        buffers.start(ranks, Self.channel)
        repeat {
            _ = try ranks.measuring(.never) { _ = try subject.program.run(subject.inputs) }
            steps += 1
        } while !buffers.areDone(ranks, Self.channel)
        let elapsed = (clock.now - start) / .seconds(1)
        try buffers.finish(ranks, Self.channel)
        return (elapsed, steps)
    }

    /// - Parameter lost: seconds of computation that this rank lost while all buckets were sent.
    private func lostSecondsPerByte(_ lost: [Double]) throws -> Double {
        guard !lost.isEmpty else { return 0 }
        let bytes = 4 * counts.reduce(0, +)
        let median = mean(try ranks.gather(numbers: lost)).median
        return max(median, 0) / BenchmarkReport.LinkParameters.traffic(bytes, ranks: ranks.size)
    }
}
