import Engine
import Models
import Ranks

/// Measures the training step of several ranks, and what their messages cost.
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

    /// The duration of each step with a schedule.
    struct Steps {
        /// Of the slowest rank.
        let seconds: [Double]
        /// The mean over the ranks.
        let waited: [Double]
        /// The median of this rank.
        let ownSeconds: Double
        /// Medians of the slowest rank; the end of the backward pass after those of the buckets.
        let ready: [Double]

        var report: RankReport.Step {
            RankReport.Step(seconds: seconds.median, waitedSeconds: waited.median)
        }
    }

    func steps(_ schedule: SumSchedule) throws -> Steps {
        var (seconds, waited) = ([Double](), [Double]())
        var ready = Array(repeating: [Double](), count: counts.count + 1)
        for _ in 0..<runs {
            let run = try step(schedule)
            seconds.append(run.seconds)
            waited.append(run.waited)
            for (index, time) in run.ready.enumerated() { ready[index].append(time) }
        }
        let all = try ranks.gather(numbers: seconds)
        let allWaited = try ranks.gather(numbers: waited)
        let allReady = try ranks.gather(numbers: ready.map(\.median))
        return Steps(
            seconds: largest(all),
            waited: waited.indices.map { run in
                allWaited.reduce(0) { $0 + $1[run] } / Double(ranks.size)
            }, ownSeconds: seconds.median, ready: largest(allReady))
    }

    private func largest(_ values: [[Double]]) -> [Double] {
        values[0].indices.map { index in values.map { $0[index] }.max() ?? .nan }
    }

    private func step(
        _ schedule: SumSchedule
    ) throws -> (seconds: Double, waited: Double, ready: [Double]) {
        try waitForAll()
        let clock = ContinuousClock(), start = clock.now, before = ranks.waitingTime
        let times = try ranks.measuring(schedule) {
            _ = try subject.program.run(subject.inputs)
        }
        let end = clock.now
        let instants = times.starts.map(\.time) + [times.firstWait ?? end]
        return (
            (end - start) / .seconds(1), (ranks.waitingTime - before) / .seconds(1),
            instants.map { ($0 - start) / .seconds(1) }
        )
    }

    private func waitForAll() throws { _ = try ranks.gather(integers: [0]) }

    /// What ``steps(_:)`` measured without messages.
    func timeline(_ steps: Steps) -> StepTimeline {
        let backward = steps.ready[counts.count]
        return StepTimeline(
            buckets: zip(counts, steps.ready).map { count, ready in
                StepTimeline.Bucket(bytes: 4 * count, readySeconds: ready)
            }, backwardSeconds: backward,
            updateSeconds: max(steps.seconds.median - backward, 0))
    }
}

// MARK: Messages

extension RankMeasurement {
    /// The channels of sums that are not those of the step.
    private static let channel = 10_000
    private static let repetitions = 5

    /// Sums of one bucket of several sizes, and of all buckets at once.
    func sums() throws -> [RankReport.Sum] {
        let sizes = [1 << 10, 1 << 14, 1 << 18, 1 << 21].map { [$0] } + [counts]
        return try sizes.map { counts in
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
            return RankReport.Sum(
                bytes: 4 * counts.reduce(0, +), seconds: slowest.median)
        }
    }

    /// Seconds of each of many messages at once.
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

    /// Seconds that computing loses for each byte that is sent meanwhile.
    ///
    /// - Parameter seconds: of a step without messages.
    func lostSecondsPerByte(_ seconds: Double) throws -> Double {
        let buffers = SumBuffers(counts)
        let lost = try (0..<Self.repetitions).map { _ in
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
            return elapsed - Double(steps) * seconds
        }
        let all = try ranks.gather(numbers: lost)
        let mean = lost.indices.map { run in
            all.reduce(0) { $0 + $1[run] } / Double(ranks.size)
        }
        let bytes = 4 * counts.reduce(0, +)
        return max(mean.median, 0) / LinkParameters.traffic(bytes, ranks: ranks.size)
    }
}

/// Values that are summed to measure how long that takes.
private final class SumBuffers {
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

extension RankReport {
    /// Measures all ranks.
    ///
    /// - Parameter oneImageSeconds: see ``RankReport/oneImageSeconds``.
    /// - Returns: the report, and the seconds of each step of the slowest rank.
    static func measure(
        _ subject: BenchmarkSubject, oneImageSeconds: Double, _ options: BenchmarkOptions
    ) throws -> (report: RankReport, seconds: [Double]) {
        let ranks = options.ranks
        let measurement = try RankMeasurement(subject, ranks, runs: options.runs)
        let (step, delayed, alone) = (
            try measurement.steps(.prompt), try measurement.steps(.afterBackward),
            try measurement.steps(.never)
        )
        let sums = try measurement.sums()
        let link = LinkParameters(
            fitting: sums, ranks: ranks.size, messageSeconds: try measurement.messageSeconds(),
            sumSecondsPerByte: try measurement.sumSecondsPerByte(),
            lostSecondsPerByte: try measurement.lostSecondsPerByte(alone.ownSeconds))
        let report = RankReport(
            ranks: ranks.size, batch: options.batch, step: step.report,
            stepWithoutOverlap: delayed.report, timeline: measurement.timeline(alone),
            oneImageSeconds: oneImageSeconds, sums: sums, link: link)
        return (report, step.seconds)
    }

    /// Measures the step with one image for each rank, and nothing sent.
    ///
    /// - Returns: the end of its backward pass.
    static func oneImageSeconds(_ model: Model, _ options: BenchmarkOptions) throws -> Double {
        var options = options
        options.batch = options.ranks.size
        let measurement = try RankMeasurement(
            BenchmarkSubject(model, options), options.ranks, runs: options.runs)
        return try measurement.timeline(measurement.steps(.never)).backwardSeconds
    }
}
