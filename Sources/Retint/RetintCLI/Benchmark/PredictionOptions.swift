import ArgumentParser
import Retint

/// Predictions for numbers of threads and ranks that were not measured.
struct PredictionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Predict the time for these numbers of threads, as if each had its own processor with \
            the memory and clock speed of this machine's. With --steps, also how many threads \
            each step keeps busy, and how evenly.
            """, valueName: "n,n,…"))
    var predictThreads: NumberList?

    @Option(
        help: ArgumentHelp(
            """
            Predict the training step for these numbers of ranks, from a measurement of several \
            ranks.
            """, valueName: "n,n,…"))
    var predictRanks: NumberList?

    @Option(
        help: .rare(
            """
            The images of all ranks together in the predictions; default: the measured number \
            for each rank.
            """, valueName: "images"))
    var predictBatch: Int?

    @Option(
        help: .rare(
            "Predict for links of this bandwidth instead of the measured one.",
            valueName: "Gb/s"))
    var bandwidth: Double?

    @Option(
        help: .rare(
            "Predict for links of this latency instead of the measured one.", valueName: "µs"))
    var latency: Double?

    @Option(
        help: .rare(
            "Also draw the predicted images per second: a page (.html), or a picture (.svg).",
            valueName: "file"), completion: .file(extensions: ["html", "svg"]))
    var plot: String?

    func validate() throws {
        guard let predictRanks else {
            let given = [
                ("--predict-batch", predictBatch != nil), ("--bandwidth", bandwidth != nil),
                ("--latency", latency != nil), ("--plot", plot != nil),
            ].first { $0.1 }
            guard let given else { return }
            throw ValidationError("\(given.0) has no effect without --predict-ranks")
        }
        if let predictBatch {
            let range = predictRanks.largest...1 << 30
            guard range.contains(predictBatch) else {
                throw ValidationError(
                    "--predict-batch \(predictBatch): must be from \(range.lowerBound), one image "
                        + "per rank, to \(range.upperBound)")
            }
        }
        try Self.check(bandwidth, "--bandwidth", 1e-6...1e6)
        try Self.check(latency, "--latency", 0...1e9)
        if let plot, !plot.hasSuffix(".html"), !plot.hasSuffix(".svg") {
            throw ValidationError("--plot \(plot): must end in .html or .svg")
        }
    }

    private static func check(
        _ value: Double?, _ option: String, _ range: ClosedRange<Double>
    ) throws {
        guard let value, !range.contains(value) else { return }
        throw ValidationError(
            "\(option) \(value): must be from \(range.lowerBound) to \(range.upperBound)")
    }

    /// The predictions, if any were requested.
    func predictions(_ model: String, _ report: BenchmarkReport.RankReport) -> RankPredictions? {
        predictRanks.map { list in
            var link = report.link
            if let bandwidth { link.bytesPerSecond = bandwidth * 1e9 / 8 }
            if let latency { link.latencySeconds = latency * 1e-6 }
            return RankPredictions(
                model: model, measured: report, link: link,
                predictions: list.numbers.map {
                    report.prediction(ranks: $0, batch: predictBatch, link: link)
                })
        }
    }
}

/// Comma-separated numbers of ranks or threads.
struct NumberList: ExpressibleByArgument {
    let numbers: [Int]

    var largest: Int { numbers.max() ?? 1 }

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        guard numbers.count == parts.count,
            numbers.allSatisfy(BenchmarkReport.StepPrediction.rankRange.contains)
        else { return nil }
        self.numbers = numbers
    }
}
