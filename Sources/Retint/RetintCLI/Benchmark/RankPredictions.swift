import Retint

/// Formats predicted steps for some numbers of ranks.
struct RankPredictions: Encodable {
    let model: String
    let measured: BenchmarkReport.RankReport
    /// What the predictions assume about the links.
    let link: BenchmarkReport.LinkParameters
    let predictions: [BenchmarkReport.StepPrediction]

    var lines: [String] { [summary] + table.lines }

    private var summary: String {
        "predicted from \(measured.ranks) ranks, for links of "
            + "\(Format.fixed(link.bytesPerSecond * 8e-9, 2)) Gb/s and a latency of "
            + Format.duration(link.latencySeconds)
    }

    private static let header = ["ranks", "batch", "step", "images/s", "efficiency", "waiting"]

    private var rows: [[String]] {
        predictions.map { row in
            [
                Format.grouped(row.ranks), Format.grouped(row.batch),
                Format.duration(row.stepSeconds), Format.fixed(row.imagesPerSecond, 1),
                Format.percent(row.efficiency), Format.percent(row.waitedShare),
            ]
        }
    }

    private var table: TextTable {
        TextTable(header: Self.header, rows, rightAligned: Set(Self.header.indices))
    }

    // MARK: Plot

    /// Images per second over the number of ranks.
    private var plot: LinePlot {
        let ideal = predictions.map { row in
            (x: Double(row.ranks), y: row.imagesPerSecond / row.efficiency)
        }
        let predicted = predictions.map { (x: Double($0.ranks), y: $0.imagesPerSecond) }
        let (ranks, batch) = (Double(measured.ranks), Double(measured.batch))
        return LinePlot(
            "images/s of \(model)", xLabel: "ranks",
            [
                LinePlot.Series("predicted", predicted.sorted { $0.x < $1.x }),
                LinePlot.Series("without messages", ideal.sorted { $0.x < $1.x }),
                // The legend says what the point is.
                LinePlot.Series(
                    "measured", [(ranks, batch / measured.step.seconds)], labels: [""]),
            ], isLogarithmic: (true, true))
    }

    /// Writes a page or a picture, replacing an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    func writePlot(to path: String) throws {
        if path.hasSuffix(".svg") { return try plot.write(to: path) }
        try HTMLPage(
            title: "\(model.fileName) on many ranks",
            body: [
                "<h1>\(model.fileName.escapedForHTML) on many ranks</h1>",
                "<p>\(summary.escapedForHTML).</p>", plot.html,
                HTMLPage.table(Self.header, rows, textColumns: 0),
                htmlEnvironment("arithmetic: float32"),
            ]
        ).write(to: path)
    }
}
