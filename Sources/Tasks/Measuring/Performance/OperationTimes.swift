import RetintEngine
import RetintRuntime

extension PerformanceReport {
    /// Where the time of a prediction goes.
    public struct OperationTimes: Sendable, Encodable {
        /// The median time of whole predictions, which alternated with those whose steps were
        /// timed.
        public let predictionSeconds: Double
        /// The sum of the median times of all steps.
        public let stepsSeconds: Double
        /// ``stepsSeconds`` divided by ``predictionSeconds``. The rest is copying inputs and
        /// outputs, scaling, the search for colors that are not finite, the error of reading the
        /// clock at each step and, on a busy machine, interruptions, which the medians of single
        /// steps do not show.
        public let stepsShare: Double
        /// The steps by type, the most expensive type first.
        public let operations: [BenchmarkReport.Operation]
        /// All steps, in the order of the program.
        public let steps: [BenchmarkReport.Step]
    }
}

/// Times the steps of several programs alternately.
struct OperationTiming {
    static let rounds = 5
    private static let runs = 3
    private var profiles: [[[StepProfile]]]
    private var seconds: [[Double]]

    init(count: Int) {
        profiles = Array(repeating: [], count: count)
        seconds = Array(repeating: [], count: count)
    }

    /// Times whole predictions, and then each step, of each program.
    mutating func addRound(_ programs: [SampledProgram]) throws {
        for (index, program) in programs.enumerated() {
            seconds[index] += try measureSeconds(runs: Self.runs, warmup: 1) {
                try program.predict()
            }
            profiles[index].append(program.program.program.profile(runs: Self.runs))
        }
    }

    /// The medians over the rounds, for each program.
    var results: [PerformanceReport.OperationTimes] {
        zip(profiles, seconds).map { rounds, seconds in
            let steps = Self.median(of: rounds)
            return PerformanceReport.OperationTimes(
                predictionSeconds: seconds.median, stepsSeconds: steps.seconds,
                stepsShare: steps.seconds / seconds.median,
                operations: BenchmarkReport.Operation.summary(of: steps),
                steps: BenchmarkReport.Step.list(steps))
        }
    }

    private static func median(of rounds: [[StepProfile]]) -> [StepProfile] {
        var steps = rounds[0]
        for index in steps.indices {
            steps[index].seconds = rounds.map { $0[index].seconds }.median
        }
        return steps
    }
}
