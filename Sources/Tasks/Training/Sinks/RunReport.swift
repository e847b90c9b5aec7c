import Foundation
import RetintEngine
import RetintFiles
import RetintImages
import RetintPages

/// Writes `report.html` in the run's folder: curves, samples over time, the configuration and the
/// environment, in one self-contained file. The samples are next to it as `samples/<step>.png`.
final class RunReport: MetricsSink {
    private let folder: RunFolder
    private let configuration: TrainingConfiguration
    private var records: [MetricsRecord] = []
    /// The largest number of steps whose samples are shown.
    private static let maximumSampleSteps = 6
    /// Bytes of a picture.
    private static let largestSample = 1 << 26

    /// - Parameter step: the step to resume after; samples and records of later steps are dropped.
    init(
        _ configuration: TrainingConfiguration, in folder: RunFolder, resumingAt step: Int
    ) throws {
        (self.configuration, self.folder) = (configuration, folder)
        try createFolder(samples)
        for (name, number) in kept where step == 0 || number > step { unlink("\(samples)/\(name)") }
        guard step > 0, let text = try? readFile(folder.metrics) else { return }
        records = text.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(MetricsRecord.self, from: Data($0))
        }.filter { $0.step <= step }
    }

    private var samples: String { folder.samples }

    /// The sample files in the folder with their steps, oldest first.
    private var kept: [(name: String, step: Int)] {
        let names = entries(of: samples) ?? []
        return names.sorted()
            .compactMap { name in RunFolder.step(ofSample: name).map { (name, $0) } }
    }

    func append(_ record: MetricsRecord) throws { records.append(record) }

    func append(_ samples: [ValidationSample], weights: [String: [Float]], step: Int) throws {
        if !samples.isEmpty {
            let grid = Image.grid(samples.map(\.strip), columns: 2, gap: 6)
            let path = "\(self.samples)/\(RunFolder.sampleName(step))"
            try folder.requireOwnFile(path)
            try AtomicFile.write(try grid.encode(.png()), to: path)
        }
        try page.write(to: folder.report)
    }

    // MARK: The page

    private var page: HTMLPage {
        get throws {
            HTMLPage(
                title: "training of \(configuration.architecture)",
                body: [head, plots, sampleImages, settings, environment])
        }
    }

    private var head: String {
        let best = records.filter { $0.validation != nil }
            .min { ($0.validation?.loss ?? 0) < ($1.validation?.loss ?? 0) }
        let line = best.map {
            "Lowest validation loss \(String(format: "%.5f", $0.validation?.loss ?? .nan)) "
                + "at step \($0.step), ΔE2000 "
                + String(format: "%.2f", $0.validation?.deltaE2000 ?? .nan) + "."
        }
        return """
            <h1>\(configuration.architecture.escapedForHTML)</h1>
            <p>\(records.last?.step ?? 0) of \(configuration.steps) steps, \(configuration.batch) \
            crops per step. \(line ?? "")</p>
            """
    }

    private func curve(_ name: String, _ value: (MetricsRecord) -> Double?) -> LinePlot.Series {
        LinePlot.Series(
            name, records.compactMap { record in value(record).map { (Double(record.step), $0) } })
    }

    private var plots: String {
        let all: [(String, [LinePlot.Series], Bool)] = [
            (
                "loss",
                [curve("training") { $0.loss }, curve("validation") { $0.validation?.loss }],
                true
            ),
            ("ΔE2000", [curve("validation") { $0.validation?.deltaE2000 }], false),
            ("PSNR in dB", [curve("validation") { $0.validation?.psnr }], false),
            (
                "colorfulness",
                [
                    curve("network") { $0.validation?.colorfulness },
                    curve("photos") { $0.validation?.photoColorfulness },
                ], false
            ),
            ("learning rate", [curve("") { $0.learningRate }], false),
            ("gradient norm", [curve("") { $0.gradientNorm }], true),
            ("images per second", [curve("") { $0.imagesPerSecond }], false),
        ]
        let drawn = (all + communication).map { title, series, isLogarithmic in
            LinePlot(title, xLabel: "step", series, isLogarithmic: (false, isLogarithmic)).html
        }
        let words = HTMLPage.explanation(
            of: ["loss", "ΔE2000", "PSNR", "colorfulness", "gradient norm"])
        return "<h2>Curves</h2><div class=\"plots\">\(drawn.joined())</div>\(words)"
    }

    /// How long each rank waited for others; empty with one rank.
    private var communication: [(String, [LinePlot.Series], Bool)] {
        // More curves could not be distinguished.
        let ranks = min(records.compactMap(\.communicationShares?.count).max() ?? 0, 8)
        guard ranks > 0 else { return [] }
        let curves = (0..<ranks).map { rank in
            curve("rank \(rank)") { record in
                record.communicationShares.flatMap { $0.indices.contains(rank) ? $0[rank] : nil }
            }
        }
        return [("share of time waited for other ranks", curves, false)]
    }

    /// The newest samples, and some from earlier steps.
    private var sampleImages: String {
        let kept = kept
        guard !kept.isEmpty else { return "" }
        let count = min(kept.count, Self.maximumSampleSteps)
        let chosen = (0..<count).map {
            kept[kept.count - 1 - $0 * (kept.count - 1) / max(count - 1, 1)]
        }
        let parts = chosen.compactMap { name, step -> String? in
            // A link could lead to any file, whose content would stand in the page.
            guard
                let file = try? RegularFile("\(samples)/\(name)", followingLinks: false),
                let bytes = try? file.contents(maximumBytes: Self.largestSample)
            else { return nil }
            let data = Data(bytes).base64EncodedString()
            return """
                <h3>Step \(step)</h3>
                <img class="wide" alt="samples after step \(step)" \
                src="data:image/png;base64,\(data)">
                """
        }
        return "<h2>Samples: gray, network, photo</h2>" + parts.joined(separator: "\n")
    }

    private var settings: String {
        """
        <h2>Configuration</h2><details><summary>config.yaml</summary>
        <pre>\(configuration.yaml.escapedForHTML)</pre></details>
        """
    }

    private var environment: String {
        """
        <h2>Environment</h2><p>\(Machine.description.escapedForHTML)</p>
        """
    }
}
