import Files
import Foundation
import ImageIO
import TensorGraph
import Verification

/// A report as one file of HTML that needs nothing beside it: no network, no script.
struct VerificationPage {
    private let report: VerificationReport
    private let pictures: PagePictures?

    init(_ report: VerificationReport, _ pictures: PagePictures?) {
        self.report = report
        self.pictures = pictures
    }

    /// Writes the page, in place of one that may be there.
    ///
    /// - Throws: `FileError` if it cannot be written.
    func write(to path: String) throws {
        try AtomicFile.write(Array(try html.utf8), to: path)
    }

    var html: String {
        get throws {
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width,initial-scale=1">
            <title>\(title.escapedForHTML)</title>
            <style>
            \(Self.style)
            </style></head><body>
            \(verdict)
            \(outputs)
            \(network)
            \(try photos)
            \(ranges)
            \(environment)
            </body></html>

            """
        }
    }

    private var title: String { "\(report.model) against \(report.reference)" }

    private var verdict: String {
        let failures =
            report.outputs.flatMap { output in output.failures.map { "\(output.name): \($0)" } }
            + report.colorFailures + report.layerFailures
        let items = failures.map { "<li>\($0.escapedForHTML)</li>" }.joined()
        return """
            <h1><span class="\(report.passed ? "passed" : "failed")">\
            \(report.passed ? "passed" : "FAILED")</span> \(report.model.escapedForHTML)</h1>
            <p>\(report.precision.rawValue) weights, computed in \(report.compute.rawValue), \
            against \(report.reference.escapedForHTML)</p>
            <p>Tolerance: \(report.tolerance.description.escapedForHTML)</p>
            \(items.isEmpty ? "" : "<ul class=\"failures\">\(items)</ul>")
            """
    }

    private var outputs: String {
        let header = [
            "output", "shape", "max |e|", "mean |e|", "p99 |e|", "max rel", "PSNR dB", "SNR dB",
            "cosine", "",
        ]
        let rows = report.outputs.map { output in
            let metrics = output.metrics
            return [
                output.name, "\(Shape(output.shape))", Format.significant(metrics.maxAbs),
                Format.significant(metrics.meanAbs), Format.significant(metrics.percentile99),
                Format.significant(metrics.maxRelative), Format.fixed(metrics.psnr, 2),
                Format.fixed(metrics.snr, 2), Format.fixed(metrics.cosine, 9),
                output.failures.isEmpty ? "ok" : "FAILED",
            ]
        }
        return "<h2>Outputs</h2>\n" + htmlTable(header, rows, marked: [])
    }
}

/// The pictures.
extension VerificationPage {
    private var photos: String {
        get throws {
            guard let pictures, !pictures.pictures.isEmpty, let color = report.color else {
                return ""
            }
            let rest = pictures.count - pictures.pictures.count
            let scale = pictures.scale
            let worst = report.photos.count > 1 ? report.worstPhoto : nil
            let rows = try pictures.pictures.map { try row($0, scale) }.joined(separator: "\n")
            return """
                <h2>Colors</h2>
                <p>ΔE2000 over all pixels: \(color.text)\
                \(worst.map { "; worst picture: \($0.photo), \($0.difference.text)" }?
                    .escapedForHTML ?? "")</p>
                <div class="legend">ΔE2000 0 <span></span> \(scale.formatted) and above</div>
                \(rows)
                \(rest > 0 ? "<p>\(rest) more pictures were compared.</p>" : "")
                """
        }
    }

    private func row(_ picture: PagePictures.Picture, _ scale: Double) throws -> String {
        let images = [
            ("gray", picture.gray), ("expected", picture.expected), ("model", picture.model),
            ("difference", picture.map(scale: scale)),
        ]
        let figures = try images.map { name, image in
            "<figure><img alt=\"\(name)\" src=\"\(try image.dataURI())\">"
                + "<figcaption>\(name)</figcaption></figure>"
        }
        return """
            <section><h3>\(picture.label.escapedForHTML) \
            <span>ΔE2000 \(picture.difference.text)</span></h3>
            <div class="strip">\(figures.joined())</div></section>
            """
    }
}

/// What is computed on the way.
extension VerificationPage {
    private var network: String {
        guard let plot = ErrorPlot(report) else {
            return """
                <h2>Along the network</h2>
                <p>No intermediate value has the name of one to compare with.</p>
                """
        }
        return """
            <h2>Along the network</h2>
            <p>\(report.comparedCount) of \(report.layers.count) intermediate values were compared \
            by name. Tolerance: \(report.layerTolerance.description.escapedForHTML). \(departure)</p>
            \(plot.svg)
            <p class="key"><span class="noise"></span> error relative to what is expected, both \
            as root mean square <span class="largest"></span> largest error relative to the \
            largest number <span class="dashed"></span> tolerance</p>
            """
    }

    private var departure: String {
        guard let first = report.firstDeparture else { return "All are within it." }
        func text(_ place: Int) -> String {
            let layer = report.layers[place]
            let snr = layer.error.map { Format.fixed($0.snr, 2) } ?? "-"
            return "<b>\(layer.value.name.escapedForHTML)</b> (\(layer.value.operation), \(snr) dB)"
        }
        let inputs = first.inputs.map(text).joined(separator: ", ")
        return "The first past it is \(text(first.layer))"
            + (inputs.isEmpty ? "." : "; it is computed from \(inputs).")
    }

    private var ranges: String {
        let header = [
            "value", "operation", "shape", "max |x|", "of 65504", "max |e|", "mean |e|", "relative",
            "SNR dB", "compared with",
        ]
        let past = report.layers.indices.filter {
            report.layers[$0].error?.holds == false || report.layers[$0].range.nonFinite != nil
        }
        return """
            <h2>All values</h2>
            <p>\(range)</p>
            <details\(past.isEmpty ? "" : " open")><summary>\(report.layers.count) values</summary>
            \(htmlTable(header, report.layers.map(cells), marked: Set(past)))
            </details>
            """
    }

    private var range: String {
        let largest = report.largestValues(1).first.map { report.layers[$0] }
        let size = largest.map {
            "The largest number, \(Format.significant($0.range.largest)) in "
                + "\($0.value.name.escapedForHTML), uses \(Format.share($0.range.shareOfHalf)) of "
                + "float16's range (65504). "
        }
        guard let place = report.firstNonFinite, let found = report.layers[place].range.nonFinite
        else { return (size ?? "") + "None is NaN or infinite." }
        return (size ?? "")
            + "The first value with numbers that are none is "
            + "<b>\(report.layers[place].value.name.escapedForHTML)</b>: \(found.count), of which "
            + "\(found.nan) NaN."
    }

    private func cells(_ layer: LayerReport) -> [String] {
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
        let version = RetintCommand.configuration.version
        return """
            <h2>Environment</h2>
            <p>retint \(version) on \(Processor.name.escapedForHTML); arithmetic: \
            \(report.compute.rawValue), by \(VerificationReport.runtime.escapedForHTML).</p>
            """
    }
}

/// The first three columns are text, the others numbers.
private func htmlTable(_ header: [String], _ rows: [[String]], marked: Set<Int>) -> String {
    func line(_ cells: [String], _ tag: String) -> String {
        cells.enumerated().map { column, cell in
            "<\(tag)\(column < 3 ? " class=\"text\"" : "")>\(cell.escapedForHTML)</\(tag)>"
        }.joined()
    }
    let body = rows.enumerated().map { place, row in
        "<tr\(marked.contains(place) ? " class=\"past\"" : "")>\(line(row, "td"))</tr>"
    }
    return """
        <div class="table"><table><thead><tr>\(line(header, "th"))</tr></thead>
        <tbody>\(body.joined(separator: "\n"))</tbody></table></div>
        """
}

extension Double {
    /// Without digits that say nothing: 0.05, 2, 100.
    fileprivate var formatted: String { String(format: "%g", self) }
}

extension VerificationPage {
    private static let style = """
        :root { color-scheme: light; }
        body { font: 15px/1.45 system-ui, sans-serif; color: #1c2024; background: #fff;
          max-width: 1080px; margin: 32px auto; padding: 0 20px; }
        h1 { font-size: 22px; overflow-wrap: anywhere; }
        h2 { font-size: 17px; margin: 32px 0 8px; border-bottom: 1px solid #d8dce0; }
        h3 { font-size: 14px; margin: 20px 0 4px; overflow-wrap: anywhere; }
        h3 span { font-weight: 400; margin-left: 8px; }
        p { margin: 6px 0; overflow-wrap: anywhere; }
        .passed, .failed { color: #fff; border-radius: 4px; padding: 2px 9px; font-size: 17px;
          margin-right: 6px; }
        .passed { background: #22763c; } .failed { background: #b3261e; }
        .failures { color: #b3261e; }
        .table { overflow-x: auto; }
        table { border-collapse: collapse; font-size: 12px; white-space: nowrap; }
        th, td { padding: 3px 9px 3px 0; text-align: right; border-bottom: 1px solid #eceef0;
          font-variant-numeric: tabular-nums; }
        th { color: #5a6270; font-weight: 600; } .text { text-align: left; }
        td:last-child { white-space: normal; overflow-wrap: anywhere; }
        tr.past td { background: #fdecea; }
        .strip { display: grid; grid-template-columns: repeat(4, 1fr); gap: 8px; }
        figure { margin: 0; } figure img { width: 100%; display: block; image-rendering: auto; }
        figcaption { font-size: 12px; color: #5a6270; }
        .legend { font-size: 12.5px; color: #5a6270; }
        .legend span { display: inline-block; width: 180px; height: 11px; vertical-align: -1px;
          margin: 0 6px; background: \(HeatColor.gradient); }
        svg { width: 100%; height: auto; margin-top: 6px; }
        svg text { font: 10px system-ui, sans-serif; fill: #5a6270; text-anchor: end; }
        svg .grid { stroke: #eceef0; } svg polyline { fill: none; stroke-width: 1.5; }
        svg polyline.noise { stroke: #1f5fa8; } svg circle.noise { fill: #1f5fa8; }
        svg polyline.largest { stroke: #e0a030; } svg circle.past { fill: #b3261e; }
        svg .bound { stroke-dasharray: 5 4; stroke-width: 1.3; }
        svg .bound.noise { stroke: #1f5fa8; } svg .bound.largest { stroke: #e0a030; }
        .key { font-size: 12.5px; color: #5a6270; }
        .key span { display: inline-block; width: 20px; height: 0; vertical-align: 3px;
          border-top: 2px solid #1f5fa8; margin: 0 3px 0 14px; }
        .key .noise { margin-left: 0; }
        .key .largest { border-color: #e0a030; }
        .key .dashed { border-top: 2px dashed #5a6270; }
        details summary { cursor: pointer; margin: 6px 0; }
        """
}
