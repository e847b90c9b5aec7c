/// Rows of text in aligned columns, for people.
package struct TextTable {
    /// The columns, counted from 0, that are aligned to the right, as numbers want it.
    package var rightAligned: Set<Int> = []
    private var rows: [[String]]

    /// - Parameter header: what stands over the columns.
    package init(header: [String], rightAligned: Set<Int> = []) {
        rows = [header]
        self.rightAligned = rightAligned
    }

    package mutating func append(_ row: [String]) {
        rows.append(row)
    }

    package var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.indices.map {
                padded(row[$0], widths[$0], right: rightAligned.contains($0))
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    private func padded(_ text: String, _ width: Int, right: Bool) -> String {
        let space = String(repeating: " ", count: width - text.count)
        return right ? space + text : text + space
    }
}
