import Foundation
import Retint

/// A verification as an HTML page: the verdict, then a section for each runtime.
struct VerificationPage {
    private let results: VerificationResults
    private let images: JudgedImages?

    init(_ results: VerificationResults, _ images: JudgedImages?) {
        self.results = results
        self.images = images
    }

    /// Writes the page, replacing an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    func write(to path: String) throws {
        let sections = try results.reports.flatMap {
            try Self.sections(of: $0, images?[$0.judge])
        }
        try HTMLPage(title: title, style: Self.style, body: beside + sections).write(to: path)
    }

    /// The parts of a page that are about one runtime.
    static func sections(
        of report: VerificationReport, _ images: VerificationImages?
    ) throws -> [String] {
        try JudgeSection(report, images).parts
    }

    /// The scale of the maps of differences.
    static let style = """
        .legend { font-size: 12.5px; color: var(--quiet); }
        .legend span { display: inline-block; width: 180px; height: 11px; vertical-align: -1px;
          margin: 0 6px; background: \(HeatColor.gradient); }
        """

    private var title: String {
        results.reports.first.map { "\($0.model.fileName) against \($0.reference.fileName)" } ?? ""
    }

    /// The runtimes side by side, if there are several.
    private var beside: [String] {
        guard results.reports.count + results.missing.count > 1 else { return [] }
        let missing = results.missing.map { "<li>\($0.description.escapedForHTML)</li>" }.joined()
        return [
            """
            <h1><span class="\(results.passed ? "passed" : "failed")">\
            \(results.passed ? "passed" : "FAILED")</span> \(title.escapedForHTML)</h1>
            \(HTMLPage.table(VerificationResults.judgeHeader, results.judgeRows))
            \(missing.isEmpty ? "" : "<ul class=\"failures\">\(missing)</ul>")
            """
        ]
    }
}

/// The results of one runtime.
private struct JudgeSection {
    private let report: VerificationReport
    private let images: VerificationImages?

    init(_ report: VerificationReport, _ images: VerificationImages?) {
        self.report = report
        self.images = images
    }

    var parts: [String] {
        get throws { [verdict, outputs, diagnosis, network, try photos, ranges, environment] }
    }

    private var verdict: String {
        let items = report.failures.map { "<li>\($0.escapedForHTML)</li>" }.joined()
        return """
            <h1><span class="\(report.passed ? "passed" : "failed")">\
            \(report.passed ? "passed" : "FAILED")</span> \
            \(report.model.fileName.escapedForHTML)</h1>
            <p>\(report.precision.rawValue) weights, computed in \(report.compute.rawValue) by \
            \(report.runtime.escapedForHTML), against \
            \(report.reference.fileName.escapedForHTML)</p>
            <p>Tolerance: \(report.tolerance.description.escapedForHTML)</p>
            \(items.isEmpty ? "" : "<ul class=\"failures\">\(items)</ul>")
            """
    }

    private var outputs: String {
        "<h2>Outputs</h2>\n" + HTMLPage.table(VerificationReport.outputHeader, report.outputRows)
    }
}

extension JudgeSection {
    private var diagnosis: String {
        let tables = report.diagnosisTables
        guard !tables.isEmpty else { return "" }
        return "<h2>Where errors come from</h2>\n" + tables.map(\.html).joined(separator: "\n")
    }
}

// MARK: Images

extension JudgeSection {
    private var photos: String {
        get throws {
            guard let images, !images.entries.isEmpty, let color = report.color else {
                return ""
            }
            let rest = images.count - images.entries.count
            let scale = images.scale
            let worst = report.photos.count > 1 ? report.worstPhoto : nil
            let names = PageNames(report.photos.map(\.photo))
            let rows = try images.entries.map { try row($0, scale, names) }
                .joined(separator: "\n")
            return """
                <h2>Colors</h2>
                <p>ΔE2000 over all pixels: \(color.text)\
                \(worst.map { "; worst image: \(names($0.photo)), \($0.difference.text)" }?
                    .escapedForHTML ?? "")</p>
                <div class="legend">ΔE2000 0 <span></span> \(scale.formatted) and above</div>
                \(rows)
                \(rest > 0 ? "<p>\(rest) more images, which differ less, were compared.</p>" : "")
                """
        }
    }

    private func row(
        _ entry: VerificationImages.Entry, _ scale: Double, _ names: PageNames
    ) throws -> String {
        let images = [
            ("gray", entry.gray), ("expected", entry.expected), ("model", entry.model),
            ("difference", entry.map(scale: scale)),
        ]
        return try HTMLPage.strip(
            names(entry.label), note: "ΔE2000 \(entry.difference.text)", images)
    }
}

// MARK: Intermediate values

extension JudgeSection {
    private var network: String {
        guard report.judge.exposesLayers else { return "" }
        guard let plot = ErrorPlot(report) else {
            return """
                <h2>Along the network</h2>
                <p>No intermediate value has the name of a reference value.</p>
                """
        }
        return """
            <h2>Along the network</h2>
            <p>\(report.comparedCount) of \(report.layers.count) intermediate values were \
            compared\(report.pairingText). Tolerance: \
            \(report.layerTolerance.description.escapedForHTML). \(departure)</p>
            \(plot.svg)
            <p class="key"><span class="noise"></span> root mean square error relative to the \
            expected values <span class="largest"></span> largest error relative to the largest \
            expected value <span class="dashed"></span> tolerance</p>
            """
    }

    private var departure: String {
        guard let first = report.firstDeparture else { return "All are within the tolerance." }
        func text(_ index: Int) -> String {
            let layer = report.layers[index]
            let snr = layer.error.map { Format.fixed($0.snr, 2) } ?? "-"
            return "<b>\(layer.value.name.escapedForHTML)</b> (\(layer.value.operation), \(snr) dB)"
        }
        let inputs = first.inputs.map(text).joined(separator: ", ")
        return "The first outside the tolerance is \(text(first.layer))"
            + (inputs.isEmpty ? "." : "; it is computed from \(inputs).")
    }

    private var ranges: String {
        guard report.judge.exposesLayers else {
            return "<p>Apple's runtime does not expose intermediate values.</p>"
        }
        let header = [
            "value", "operation", "shape", "max |x|", "of 65504", "max |e|", "mean |e|", "relative",
            "SNR dB", "compared with",
        ]
        let marked = report.layers.indices.filter {
            report.layers[$0].error?.holds == false || report.layers[$0].range.nonFinite != nil
        }
        return """
            <h2>All values</h2>
            <p>\(range)</p>
            <details\(marked.isEmpty ? "" : " open")>\
            <summary>\(report.layers.count) values</summary>
            \(HTMLPage.table(header, report.layers.map(cells), marked: Set(marked)))
            </details>
            """
    }

    private var range: String {
        let largest = report.largestValues(1).first.map { report.layers[$0] }
        let size = largest.map {
            "The largest value, \(Format.significant($0.range.largest)) in "
                + "\($0.value.name.escapedForHTML), uses \(Format.share($0.range.shareOfHalf)) of "
                + "float16's range (65504). "
        }
        guard let index = report.firstNonFinite, let found = report.layers[index].range.nonFinite
        else { return (size ?? "") + "None is NaN or infinite." }
        return (size ?? "")
            + "The first tensor with NaN or infinity is "
            + "<b>\(report.layers[index].value.name.escapedForHTML)</b>: \(found.count), of which "
            + "\(found.nan) NaN."
    }

    private func cells(_ layer: VerificationReport.Layer) -> [String] {
        let start = [
            layer.value.name, layer.value.operation, "\(layer.value.shape)",
            layer.range.nonFinite == nil ? Format.significant(layer.range.largest) : "∞",
            Format.share(layer.range.shareOfHalf),
        ]
        guard let error = layer.error else { return start + ["", "", "", "", "not compared"] }
        return start + [
            Format.significant(error.maxAbs), Format.significant(error.meanAbs),
            Format.significant(error.relative), Format.fixed(error.snr, 2), error.expected,
        ]
    }

    private var environment: String {
        htmlEnvironment(
            "arithmetic: \(report.compute.rawValue), by \(report.runtime)")
    }
}

extension Double {
    /// Without trailing zeros: 0.05, 2, 100.
    fileprivate var formatted: String { String(format: "%g", self) }
}
