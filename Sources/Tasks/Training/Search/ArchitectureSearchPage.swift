public import RetintEngine
public import RetintFiles
import RetintPages

extension ArchitectureSearchReport {
    /// Writes the report as an HTML page: a table, and plots of quality against cost.
    ///
    /// - Parameter environment: a description of the environment of the measurement.
    /// - Throws: `FileError` if the page cannot be written.
    public func writePage(
        to path: some PathConvertible, environment: String = Machine.description
    ) throws {
        let (header, rows) = table
        let plots =
            plot("milliseconds at \(size) × \(size)") { $0.medianSeconds * 1e3 }
            + plot("KiB in float16") { Double($0.bytes) / 1024 }
        let steps = rungs.map(String.init).joined(separator: ", ")
        try HTMLPage(
            title: "search",
            body: [
                "<h1>Search</h1><p>Rounds end after \(steps) steps; quality is measured on the "
                    + "validation photos.</p>",
                HTMLPage.table(header, rows, textColumns: 1),
                HTMLPage.explanation(of: ["ΔE2000", "PSNR", "colorfulness"]),
                "<h2>Quality against cost</h2><div class=\"plots\">\(plots)</div>",
                "<h2>Environment</h2>\n<p>\(environment.escapedForHTML)</p>",
            ]
        ).write(to: path.filePath.string)
    }

    /// The candidates as text, one row each, below a header; those that diverged are the last.
    public var table: (header: [String], rows: [[String]]) {
        let header = [
            "candidate", "steps", "ΔE2000", "PSNR dB", "colorfulness", "ms", "GMAC", "parameters",
            "float16",
        ]
        let rows = candidates.map { row in
            [
                row.candidate, "\(row.steps)", Format.fixed(row.deltaE2000, 2),
                row.psnrDb.map { Format.fixed($0, 2) } ?? "∞", Format.fixed(row.colorfulness, 1),
                Format.fixed(row.medianSeconds * 1e3, 1),
                Format.fixed(Double(row.multiplyAdds) * 1e-9, 3), Format.grouped(row.parameters),
                Format.bytes(row.bytes),
            ]
        }
        let diverged = diverged.map { divergence in
            [divergence.candidate, "diverged"]
                + [String](repeating: "–", count: header.count - 2)
        }
        return (header, rows + diverged)
    }

    private func plot(_ title: String, _ cost: (Candidate) -> Double) -> String {
        let points = LinePlot.Series(
            "candidates", candidates.map { (cost($0), $0.deltaE2000) },
            labels: candidates.map(\.candidate))
        let front = paretoFront(cost).map { (x: cost($0), y: $0.deltaE2000) }
        return LinePlot(
            "ΔE2000 against \(title)", xLabel: title,
            [points, LinePlot.Series("Pareto front", front.sorted { $0.x < $1.x })],
            isLogarithmic: (true, false)
        ).html
    }
}
