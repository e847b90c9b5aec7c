/// Rows of text in aligned columns.
struct TextTable {
    /// The indices of the right-aligned columns.
    private let rightAligned: Set<Int>
    private var rows: [[String]]

    /// - Parameters:
    ///   - header: the titles of the columns.
    ///   - rows: the rows below it.
    ///   - rightAligned: the indices of the columns of numbers, which are aligned to the right.
    init(header: [String], _ rows: [[String]] = [], rightAligned: Set<Int> = []) {
        self.rows = [header] + rows
        self.rightAligned = rightAligned
    }

    mutating func append(_ row: [String]) {
        rows.append(row)
    }

    var lines: [String] {
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
