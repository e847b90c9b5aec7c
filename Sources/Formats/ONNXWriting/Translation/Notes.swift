/// Parts that ONNX cannot express, with the affected values.
struct Notes {
    /// In the order in which they came up.
    private var entries: [(what: String, names: [String])] = []

    mutating func add(_ what: String, about name: String) {
        if let index = entries.firstIndex(where: { $0.what == what }) {
            entries[index].names.append(name)
        } else {
            entries.append((what, [name]))
        }
    }

    /// A line for each: `w1, w2 and 7 others: sparse weights are written dense`.
    var lines: [String] {
        entries.map { entry in
            let shown = entry.names.prefix(Self.shownCount).joined(separator: ", ")
            let rest = entry.names.count - Self.shownCount
            let others = rest > 0 ? " and \(rest) more" : ""
            return "\(shown)\(others): \(entry.what)"
        }
    }

    private static let shownCount = 3
}
