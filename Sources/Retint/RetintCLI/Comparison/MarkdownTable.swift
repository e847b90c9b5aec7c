/// The lines of a Markdown table.
func markdownTable(
    _ header: [String], _ rows: [[String]], rightAligned: Set<Int> = []
) -> [String] {
    func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
    let rule = header.indices.map { rightAligned.contains($0) ? "---:" : "---" }
    return [line(header), line(rule)] + rows.map(line)
}
