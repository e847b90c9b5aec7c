import RetintFiles

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
        entries.map { "\($0.names.listed()): \($0.what)" }
    }
}
