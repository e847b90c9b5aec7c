public import RetintFiles
public import RetintImages

/// A report as a single HTML file without scripts or references to other files.
public struct HTMLPage {
    let title: String
    /// CSS rules added to those of every page.
    let style: String
    /// HTML fragments.
    let body: [String]

    /// A page with a title, CSS rules for it alone, and fragments of HTML.
    public init(title: String, style: String = "", body: [String]) {
        (self.title, self.style, self.body) = (title, style, body)
    }

    /// Writes the page, replacing an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    public func write(to path: some PathConvertible) throws {
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

extension HTMLPage {
    /// An attribute that explains a title where the mouse is; empty if it needs no explanation.
    static func hint(_ title: String) -> String {
        meaning(of: title).map { " title=\"\($0.escapedForHTML)\"" } ?? ""
    }

    /// A table whose first columns are text and the others numbers.
    ///
    /// - Parameter marked: The rows to highlight.
    public static func table(
        _ header: [String], _ rows: [[String]], textColumns: Int = 3, marked: Set<Int> = []
    ) -> String {
        func line(_ cells: [String], _ tag: String) -> String {
            cells.enumerated().map { column, cell in
                let style = column < textColumns ? " class=\"text\"" : ""
                let hint = tag == "th" ? Self.hint(cell) : ""
                return "<\(tag)\(style)\(hint)>\(cell.escapedForHTML)</\(tag)>"
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
    public static func strip(
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

    /// Colors are variables, so that a page follows the reader's choice of light or dark.
    static let colors = """
        :root { color-scheme: light dark; --page: #fff; --text: #1c2024; --quiet: #5a6270;
          --rule: #d8dce0; --grid: #eceef0; --box: #f6f7f8; --marked: #fdecea; --bad: #b3261e;
          --curve1: #1f5fa8; --curve2: #d9822b; --curve3: #22763c; --curve4: #8e44ad;
          --curve5: #b3261e; --curve6: #5a6270; }
        @media (prefers-color-scheme: dark) { :root { --page: #15181b; --text: #e2e5e8;
          --quiet: #9aa3ad; --rule: #3a4148; --grid: #2a3036; --box: #20252a; --marked: #4a2320;
          --bad: #ff8a80; --curve1: #6fb1ff; --curve2: #f0a355; --curve3: #6cc788;
          --curve4: #c892e0; --curve5: #ff8a80; --curve6: #9aa3ad; } }
        """

    /// Of the lines and letters of a plot.
    static let plotStyle = """
        svg text { font: 10px system-ui, sans-serif; fill: var(--quiet); text-anchor: end; }
        svg .grid { stroke: var(--grid); } svg polyline { fill: none; stroke-width: 1.5; }
        svg .marker { stroke: var(--bad); stroke-dasharray: 5 4; stroke-width: 1.3; }
        """

    fileprivate static let commonStyle = """
        \(colors)
        body { font: 15px/1.45 system-ui, sans-serif; color: var(--text); background: var(--page);
          max-width: 1080px; margin: 32px auto; padding: 0 20px; }
        h1 { font-size: 22px; overflow-wrap: anywhere; }
        h2 { font-size: 17px; margin: 32px 0 8px; border-bottom: 1px solid var(--rule); }
        h3 { font-size: 14px; margin: 20px 0 4px; overflow-wrap: anywhere; }
        h3 span { font-weight: 400; margin-left: 8px; }
        p { margin: 6px 0; overflow-wrap: anywhere; }
        .passed, .failed { color: #fff; border-radius: 4px; padding: 2px 9px; font-size: 17px;
          margin-right: 6px; }
        .passed { background: #22763c; } .failed { background: #b3261e; }
        .failures { color: var(--bad); }
        .table { overflow-x: auto; }
        table { border-collapse: collapse; font-size: 12px; white-space: nowrap; }
        th, td { padding: 3px 9px 3px 0; text-align: right; border-bottom: 1px solid var(--grid);
          font-variant-numeric: tabular-nums; }
        th { color: var(--quiet); font-weight: 600; } .text { text-align: left; }
        td:last-child { white-space: normal; overflow-wrap: anywhere; }
        tr.past td { background: var(--marked); }
        .strip { display: grid; grid-template-columns: repeat(4, 1fr); gap: 8px; }
        figure { margin: 0; } figure img { width: 100%; display: block; image-rendering: auto; }
        figcaption { font-size: 12px; color: var(--quiet); }
        svg { width: 100%; height: auto; margin-top: 6px; }
        \(plotStyle)
        svg polyline.noise { stroke: var(--curve1); } svg circle.noise { fill: var(--curve1); }
        svg polyline.largest { stroke: var(--curve2); } svg circle.past { fill: var(--bad); }
        svg .bound { stroke-dasharray: 5 4; stroke-width: 1.3; }
        svg .bound.noise { stroke: var(--curve1); } svg .bound.largest { stroke: var(--curve2); }
        .key { font-size: 12.5px; color: var(--quiet); }
        .key span { display: inline-block; width: 20px; height: 0; vertical-align: 3px;
          border-top: 2px solid var(--curve1); margin: 0 3px 0 14px; }
        .key .noise { margin-left: 0; }
        .key .largest { border-color: var(--curve2); }
        .key .dashed { border-top: 2px dashed var(--quiet); }
        .plots { display: grid; grid-template-columns: repeat(2, 1fr); gap: 14px; }
        .plot figcaption span { font-weight: 400; margin-left: 8px; display: inline-block; }
        img.wide { width: 100%; max-width: 780px; display: block; }
        pre { font-size: 12px; background: var(--box); padding: 10px; overflow-x: auto; }
        details summary { cursor: pointer; margin: 6px 0; }
        @media (max-width: 640px) { body { margin: 16px auto; padding: 0 12px; }
          .plots { grid-template-columns: minmax(0, 1fr); }
          .strip { grid-template-columns: repeat(2, 1fr); }
          .plot svg text { font-size: 14px; } }
        """
}
