import Retint

/// A comparison as HTML: the verdict, a section for each respect, then the verification.
struct DiffPage {
    private let diff: ModelDiff
    private let images: VerificationImages?

    init(_ diff: ModelDiff, _ images: VerificationImages?) {
        (self.diff, self.images) = (diff, images)
    }

    /// Writes the page, replacing an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    func write(to path: String) throws {
        try HTMLPage(
            title: "\(diff.first.file.fileName) and \(diff.second.file.fileName)",
            style: VerificationPage.style,
            body: [verdict] + diff.tables.map(section) + outputs
        ).write(to: path)
    }

    private var verdict: String {
        """
        <h1><span class="\(diff.isEqual ? "passed" : "failed")">\
        \(diff.word)</span> \(diff.second.file.fileName.escapedForHTML)</h1>
        <p>\(diff.reason.escapedForHTML)</p>
        <p>first: \(diff.first.text.escapedForHTML)</p>
        <p>second: \(diff.second.text.escapedForHTML)</p>
        """
    }

    private func section(_ table: DiagnosisTable) -> String {
        let notes = table.notes.map { "<p>\($0.escapedForHTML)</p>" }.joined(separator: "\n")
        let rows =
            table.rows.isEmpty
            ? ""
            : HTMLPage.table(
                table.header, table.rows, textColumns: table.numbers.min() ?? table.header.count)
        return "<h2>\(table.title.escapedForHTML)</h2>\n\(rows)\n\(notes)"
    }

    private var outputs: [String] {
        get throws {
            if let obstacle = diff.obstacle {
                return ["<h2>outputs</h2>\n<p>\(obstacle.escapedForHTML)</p>"]
            }
            return try diff.numbers.map { try VerificationPage.sections(of: $0, images) } ?? []
        }
    }
}
