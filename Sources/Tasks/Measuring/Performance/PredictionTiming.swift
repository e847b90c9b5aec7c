import RetintEngine
import RetintRuntime

/// Times many predictions of several programs, one after the other; the programs alternate, so
/// that a disturbance affects all of them.
struct PredictionTiming {
    /// How long a turn is, in seconds and in predictions.
    private static let (turnSeconds, turnRuns) = (0.5, 20)

    let turns: Int
    private let options: PerformanceOptions
    private(set) var seconds: [[Double]]

    init(count: Int, _ options: PerformanceOptions) {
        self.options = options
        seconds = Array(repeating: [], count: count)
        turns =
            options.runs.map { ($0 + Self.turnRuns - 1) / Self.turnRuns }
            ?? max(Int((options.seconds / Self.turnSeconds).rounded(.up)), 1)
    }

    /// Each program predicts for a turn. Before its turn, it runs untimed: twice at first, and once
    /// if another program has used the caches.
    mutating func addTurn(_ turn: Int, _ programs: [SampledProgram]) throws {
        for (index, program) in programs.enumerated() {
            let (runs, duration) = length(of: turn)
            seconds[index] += try measureSeconds(
                runs: runs, for: duration, warmup: turn == 0 ? 2 : programs.count > 1 ? 1 : 0
            ) { try program.predict() }
        }
    }

    /// The smallest number of predictions in a turn, and its shortest duration.
    private func length(of turn: Int) -> (runs: Int, Duration) {
        if let runs = options.runs {
            return (min(Self.turnRuns, runs - turn * Self.turnRuns), .zero)
        }
        return (1, .seconds(options.seconds / Double(turns)))
    }
}
