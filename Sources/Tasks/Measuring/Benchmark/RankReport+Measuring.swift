import RetintDistributed
import RetintRuntime

/// The steps of all ranks with a schedule.
struct MeasuredSteps {
    /// Of the slowest rank.
    let seconds: [Double]
    /// The mean over the ranks.
    let waited: [Double]
    /// Medians of the slowest rank: when each bucket is ready, then the end of the backward pass.
    let ready: [Double]

    var report: BenchmarkReport.RankReport.Step {
        BenchmarkReport.RankReport.Step(seconds: seconds.median, waitedSeconds: waited.median)
    }
}

extension BenchmarkReport.RankReport {
    /// Measures all ranks.
    ///
    /// - Parameter oneImageSeconds: see ``BenchmarkReport/RankReport/oneImageSeconds``.
    /// - Returns: the report, and the seconds of each step of the slowest rank.
    static func measure(
        _ subject: BenchmarkSubject, oneImageSeconds: Double, _ options: BenchmarkOptions
    ) throws -> (report: BenchmarkReport.RankReport, seconds: [Double]) {
        let ranks = options.ranks
        let measurement = try RankMeasurement(subject, ranks, runs: options.runs)
        let (steps, lost) = try measurement.turns(
            [.prompt, .afterBackward, .never], sendsMeanwhile: true)
        let sums = try measurement.sums()
        let link = BenchmarkReport.LinkParameters(
            fitting: sums, ranks: ranks.size, messageSeconds: try measurement.messageSeconds(),
            sumSecondsPerByte: try measurement.sumSecondsPerByte(),
            lostSecondsPerByte: lost)
        let report = BenchmarkReport.RankReport(
            ranks: ranks.size, batch: options.batch, step: steps[0].report,
            stepWithoutOverlap: steps[1].report, timeline: measurement.timeline(steps[2]),
            oneImageSeconds: oneImageSeconds, sums: sums, link: link)
        return (report, steps[0].seconds)
    }

    /// Measures the step with one image per rank, without messages.
    ///
    /// - Returns: the end of its backward pass.
    static func oneImageSeconds(_ model: Model, _ options: BenchmarkOptions) throws -> Double {
        var options = options
        options.batch = options.ranks.size
        let measurement = try RankMeasurement(
            BenchmarkSubject(model, options), options.ranks, runs: options.runs)
        let steps = try measurement.turns([.never], sendsMeanwhile: false).steps
        return measurement.timeline(steps[0]).backwardSeconds
    }
}
