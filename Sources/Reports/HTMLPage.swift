package import Files
import ImageIO

/// A report as a single HTML file without scripts or references to other files.
package struct HTMLPage {
    let title: String
    /// CSS rules added to those of every page.
    let style: String
    /// HTML fragments.
    let body: [String]

    package init(title: String, style: String = "", body: [String]) {
        (self.title, self.style, self.body) = (title, style, body)
    }

    /// Writes the page, replacing an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    package func write(to path: some PathConvertible) throws {
        try AtomicFile.write(Array(html.utf8), to: path)
    }

    private var html: String {
        """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8">
        <meta name="viewport" content="width=device-width,initial-scale=1">
        <title>\(title.escapedForHTML)</title>
        <style>
        \(Self.commonStyle)
        \(style)
        </style></head><body>
        \(body.joined(separator: "\n"))
        </body></html>

        """
    }
}

/// A table whose first columns are text and the others numbers.
///
/// - Parameter marked: The rows to highlight.
package func htmlTable(
    _ header: [String], _ rows: [[String]], textColumns: Int = 3, marked: Set<Int> = []
) -> String {
    func line(_ cells: [String], _ tag: String) -> String {
        cells.enumerated().map { column, cell in
            let style = column < textColumns ? " class=\"text\"" : ""
            return "<\(tag)\(style)>\(cell.escapedForHTML)</\(tag)>"
        }.joined()
    }
    let body = rows.enumerated().map { index, row in
        "<tr\(marked.contains(index) ? " class=\"past\"" : "")>\(line(row, "td"))</tr>"
    }
    return """
        <div class="table"><table><thead><tr>\(line(header, "th"))</tr></thead>
        <tbody>\(body.joined(separator: "\n"))</tbody></table></div>
        """
}

/// Images in a row under a title.
package func htmlStrip(
    _ title: String, note: String, _ images: [(name: String, image: Image)]
) throws -> String {
    let figures = try images.map { name, image in
        "<figure><img alt=\"\(name)\" src=\"\(try image.dataURI())\">"
            + "<figcaption>\(name)</figcaption></figure>"
    }
    return """
        <section><h3>\(title.escapedForHTML) <span>\(note.escapedForHTML)</span></h3>
        <div class="strip">\(figures.joined())</div></section>
        """
}

extension HTMLPage {
    fileprivate static let commonStyle = """
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
        .plots { display: grid; grid-template-columns: repeat(2, 1fr); gap: 14px; }
        .plot figcaption span { font-weight: 400; margin-left: 8px; }
        img.wide { width: 100%; max-width: 780px; display: block; }
        pre { font-size: 12px; background: #f6f7f8; padding: 10px; overflow-x: auto; }
        details summary { cursor: pointer; margin: 6px 0; }
        """
}
