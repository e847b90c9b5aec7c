import Retint

extension BenchmarkReport.Operation {
    /// The titles of the columns.
    static let header = ["operation", "steps", "ms", "share", "GFLOP/s", "GB/s"]

    /// A row.
    var cells: [String] {
        [
            name, "\(count)", Format.fixed(seconds * 1e3, 3), Format.percent(share),
            gflops > 0 ? Format.fixed(gflops, 1) : "", Format.fixed(gigabytesPerSecond, 1),
        ]
    }
}

extension BenchmarkReport.Step {
    /// The titles of the columns.
    static let header = ["step", "module", "shape", "ms", "share", "GFLOP/s", "GB/s"]

    /// A row.
    var cells: [String] {
        [
            name, module, shape.map(String.init).joined(separator: "×"),
            Format.fixed(seconds * 1e3, 3), Format.percent(share),
            gflops > 0 ? Format.fixed(gflops, 1) : "", Format.fixed(gigabytesPerSecond, 1),
        ]
    }
}

extension TextTable {
    init(operations: [BenchmarkReport.Operation]) {
        self.init(
            header: BenchmarkReport.Operation.header, operations.map(\.cells),
            rightAligned: [1, 2, 3, 4, 5])
    }

    init(steps: [BenchmarkReport.Step]) {
        self.init(
            header: BenchmarkReport.Step.header, steps.map(\.cells), rightAligned: [3, 4, 5, 6])
    }
}

extension TextTable {
    init(predictions: [ThreadPrediction]) {
        self.init(
            header: ["threads", "predicted", "work", "uneven", "serial", "barriers"],
            predictions.map { prediction in
                let parts = [
                    prediction.balancedSeconds, prediction.unevenSeconds,
                    prediction.serialSeconds, prediction.barrierSeconds,
                ]
                return ["\(prediction.threads)", Format.duration(prediction.seconds)]
                    + parts.map { Format.percent($0 / prediction.seconds) }
            }, rightAligned: [0, 1, 2, 3, 4, 5])
    }

    /// The steps of a prediction.
    init(steps prediction: ThreadPrediction) {
        self.init(
            header: ["step on \(prediction.threads) threads", "module", "parts", "uneven", "ms"],
            prediction.steps.map {
                [
                    $0.name, $0.module, "\($0.parts)", Format.fixed($0.unevenness, 2),
                    Format.fixed($0.seconds * 1e3, 3),
                ]
            }, rightAligned: [2, 3, 4])
    }
}

extension Format {
    /// 0.123 → 12.3 %.
    static func percent(_ share: Double) -> String { "\(fixed(100 * share, 1)) %" }
}
