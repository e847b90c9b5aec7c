import RetintEngine
import RetintRuntime

/// The median times of a comparison, in seconds.
struct ComparedTimes {
    let reference: Double
    let models: [(seconds: Double, speedup: Double)]
}

/// Times several models and a reference alternately.
struct ComparisonTiming {
    /// Runs of one model before switching to the other: few, so that a drifting clock rate affects
    /// both equally. The reference is about ten times slower.
    private static let (modelRuns, referenceRuns) = (20, 3)

    private let programs: [SampledProgram]
    private let reference: SampledProgram
    private var seconds: [[Double]]
    private var speedups: [[Double]]
    private var referenceSeconds: [Double] = []

    init(_ models: [Model], _ reference: Model, size: (Model) throws -> Int?) throws {
        programs = try models.map { try SampledProgram($0, size: size($0)) }
        self.reference = try SampledProgram(reference, size: size(reference))
        seconds = models.map { _ in [] }
        speedups = seconds
    }

    /// Runs each model next to the reference.
    mutating func addRound() throws {
        for (index, program) in programs.enumerated() {
            let slow = try median(of: reference, runs: Self.referenceRuns)
            let fast = try median(of: program, runs: Self.modelRuns)
            referenceSeconds.append(slow)
            seconds[index].append(fast)
            speedups[index].append(slow / fast)
        }
    }

    /// The medians over all rounds.
    var medians: ComparedTimes {
        ComparedTimes(
            reference: referenceSeconds.median,
            models: zip(seconds, speedups).map { ($0.median, $1.median) })
    }

    /// The median seconds of a run, after one run that fills the caches.
    private func median(of program: SampledProgram, runs: Int) throws -> Double {
        try measureSeconds(runs: runs, warmup: 1) {
            try program.predict()
        }.median
    }
}
