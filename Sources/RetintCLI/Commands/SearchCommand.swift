import ArgumentParser
import Checkpoints
import Colorizers
import Engine
import Foundation
import Layers
import Reports
import Retint
import Training

struct SearchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Train several networks under one budget and compare them.",
        discussion: """
            Successive halving: all candidates train for a few steps, the better half for twice as \
            many, and so on; the last round goes to the end. Each keeps its run in a folder of its \
            own. The report shows quality against latency and size.

            retint search --config base.yaml -o Runs/search \\
                --candidate architecture=pico-unet \\
                --candidate architecture=mobile-unet width=0.5 \\
                --candidate architecture=rep-unet depth=0.5
            """)

    @Option(help: ArgumentHelp("The YAML file that all have in common.", valueName: "file"))
    var config: String

    @Option(
        name: .customLong("candidate"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "What one candidate has of its own; `--candidate` begins each.",
            valueName: "key=value"))
    var settings: [String] = []

    @Option(name: .shortAndLong, help: "The folder for the runs and report.html.")
    var output: String

    @Option(help: "Steps of those that come to the end; the file's if not given.")
    var steps: Int?

    @Option(help: "Rounds at most.")
    var rounds = 3

    @Option(help: "The size at which latency is measured.")
    var size = 256

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard candidates.count > 1 else {
            throw ValidationError("name two candidates or more, each with --candidate")
        }
        guard rounds > 0, size > 0, steps ?? 1 > 0 else {
            throw ValidationError("--rounds, --size and --steps take numbers from 1")
        }
    }

    /// The settings of each candidate: a new one begins where a key comes again.
    private var candidates: [[String]] {
        var candidates: [[String]] = []
        for setting in settings {
            let key = setting.prefix { $0 != "=" }
            let isNew =
                key == "architecture"
                || (candidates.last?.contains { $0.hasPrefix(key + "=") } ?? true)
            if isNew {
                candidates.append([setting])
            } else {
                candidates[candidates.count - 1].append(setting)
            }
        }
        return candidates
    }

    func run() throws {
        let all = try candidates.map(candidate)
        try makeDirectory(output)
        let halving = SuccessiveHalving(
            candidates: all.count, steps: all[0].configuration.steps, rounds: rounds)
        Interruption.install()
        let outcomes = try halving.run(
            all, report: { Console.note("\($0.name): until step \($1)") },
            shouldStop: { Interruption.isRequested })
        let rows = try outcomes.map { try SearchRow($0, size: size) }
        let report = SearchReport(size: size, rungs: halving.rungs, candidates: rows)
        try report.page.write(to: "\(output)/report.html")
        if json { try Console.printJSON(report) } else { report.print() }
        if Interruption.isRequested { throw Outcome.interrupted.exit }
    }

    private func candidate(_ settings: [String]) throws -> SuccessiveHalving.Candidate {
        let name = settings.map { $0.replacingOccurrences(of: "architecture=", with: "") }
            .joined(separator: " ")
        var configuration = try TrainingConfiguration(contentsOf: config, settings: settings)
        if let steps { configuration.steps = steps }
        let folder = name.map { $0.isLetter || $0.isNumber || ".=-".contains($0) ? $0 : "_" }
        configuration.output = "\(output)/\(String(folder))"
        return SuccessiveHalving.Candidate(name: name, configuration: configuration)
    }
}

/// What a candidate reached, and what it costs.
private struct SearchRow: Encodable {
    let candidate: String
    let checkpoint: String
    let steps: Int
    let isFinalist: Bool
    let parameters, multiplyAdds: Int
    /// Weights in float16.
    let bytes: Int
    let medianSeconds: Double
    let loss, deltaE2000, colorfulness: Double
    let psnrDb: Double?

    init(_ outcome: SuccessiveHalving.Outcome, size: Int) throws {
        let configuration = outcome.candidate.configuration
        candidate = outcome.candidate.name
        checkpoint = "\(configuration.output)/best.h5"
        (steps, isFinalist) = (outcome.steps, outcome.isFinalist)
        let folded = try Checkpoint(contentsOf: checkpoint).folded()
        let summary = NetworkSummary(of: try folded.makeColorizer(), input: [1, 1, size, size])
        (parameters, multiplyAdds) = (summary.parameters, summary.multiplyAdds)
        bytes = 2 * parameters
        medianSeconds = try Self.latency(folded, size, configuration.threads)
        (loss, deltaE2000) = (outcome.metrics.loss, outcome.metrics.deltaE2000)
        (colorfulness, psnrDb) = (outcome.metrics.colorfulness, outcome.metrics.psnr)
    }

    /// The median of some runs on one picture.
    private static func latency(_ checkpoint: Checkpoint, _ size: Int, _ threads: Int?) throws
        -> Double
    {
        let program = try Model(checkpoint).program(
            height: size, width: size, options: CompileOptions(threads: threads))
        let lightness = [Float](repeating: 50, count: size * size)
        let clock = ContinuousClock()
        let seconds = try (0..<12).map { _ in
            try clock.measure { _ = try program.predict(lightness: lightness) } / .seconds(1)
        }
        return seconds.dropFirst(2).sorted()[5]
    }
}

/// A whole search.
private struct SearchReport: Encodable {
    let size: Int
    let rungs: [Int]
    /// The best first.
    let candidates: [SearchRow]

    private var header: [String] {
        [
            "candidate", "steps", "ΔE2000", "PSNR dB", "colorfulness", "ms", "GMAC", "parameters",
            "float16",
        ]
    }

    private var rows: [[String]] {
        candidates.map { row in
            [
                row.candidate, "\(row.steps)", Format.fixed(row.deltaE2000, 2),
                row.psnrDb.map { Format.fixed($0, 2) } ?? "∞", Format.fixed(row.colorfulness, 1),
                Format.fixed(row.medianSeconds * 1e3, 1),
                Format.fixed(Double(row.multiplyAdds) * 1e-9, 3), Format.grouped(row.parameters),
                Format.bytes(row.bytes),
            ]
        }
    }

    func print() {
        var table = TextTable(header: header, rightAligned: Set(1..<header.count))
        for row in rows { table.append(row) }
        for line in table.lines { Console.print(line) }
    }

    /// Those that no other beats in both.
    private func front(_ cost: (SearchRow) -> Double) -> LinePlot.Series {
        let best = candidates.filter { row in
            !candidates.contains {
                cost($0) <= cost(row) && $0.deltaE2000 <= row.deltaE2000
                    && (cost($0) < cost(row) || $0.deltaE2000 < row.deltaE2000)
            }
        }
        let points = best.map { (cost($0), $0.deltaE2000) }.sorted { $0.0 < $1.0 }
        return LinePlot.Series("front", points.map { (x: $0.0, y: $0.1) })
    }

    private func plot(_ title: String, _ cost: (SearchRow) -> Double) -> String {
        let points = LinePlot.Series(
            "candidates", candidates.map { (cost($0), $0.deltaE2000) },
            labels: candidates.map(\.candidate))
        return LinePlot(
            "ΔE2000 against \(title)", xLabel: title, [points, front(cost)],
            isLogarithmic: (true, false)
        ).html
    }

    var page: HTMLPage {
        let plots =
            plot("milliseconds at \(size) × \(size)") { $0.medianSeconds * 1e3 }
            + plot("KiB in float16") { Double($0.bytes) / 1024 }
        return HTMLPage(
            title: "search",
            body: [
                "<h1>Search</h1><p>Rounds end after \(rungs.map(String.init).joined(separator: ", ")) "
                    + "steps; figures are of the validation photos.</p>",
                htmlTable(header, rows, textColumns: 1),
                "<h2>Quality against cost</h2><div class=\"plots\">\(plots)</div>",
                htmlEnvironment("arithmetic: float32"),
            ])
    }
}
