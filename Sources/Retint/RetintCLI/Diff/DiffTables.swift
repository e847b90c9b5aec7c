import Retint

extension ModelDiff {
    /// The most rows of a table in text, where they can be many.
    private static let listedCount = 20

    /// What the files are, and what differs in each respect.
    var tables: [DiagnosisTable] {
        [files, interfaceTable, operationTable, weightTable, metadataTable]
    }

    private var files: DiagnosisTable {
        let sides = [first, second]
        let sizes = [
            ["file"] + sides.map { Format.bytes($0.bytes) },
            ["weights"] + sides.map { Format.bytes($0.weightBytes) },
        ]
        return DiagnosisTable(
            title: "files", header: ["", "first", "second"], rows: sizes + properties.map(\.row))
    }

    private var interfaceTable: DiagnosisTable {
        table("interface", interface)
    }

    private var metadataTable: DiagnosisTable { table("metadata", metadata) }

    private func table(_ name: String, _ changes: [Change]) -> DiagnosisTable {
        guard !changes.isEmpty else { return DiagnosisTable(title: "\(name): same") }
        return DiagnosisTable(
            title: "\(name): \(Format.counted(changes.count, "difference"))",
            header: ["", "first", "second"], rows: changes.map(\.row))
    }
}

extension ModelDiff.Change {
    /// The longest text of a cell: metadata may hold a page.
    private static let longest = 60

    fileprivate var row: [String] { [place, shown(first), shown(second)] }

    private func shown(_ text: String?) -> String {
        guard let text else { return "-" }
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return line.count > Self.longest ? line.prefix(Self.longest) + "…" : line
    }
}

// MARK: Operations

extension ModelDiff {
    private var operationTable: DiagnosisTable {
        let changed = operations.counts.filter { $0.first != $0.second }
        let totals = [\OperationCount.first, \.second].map { side in
            operations.counts.reduce(0) { $0 + $1[keyPath: side] }
        }
        let isSame = operations.areEqual
        let state = isSame ? changed.isEmpty ? "same" : "same but for their form" : "different"
        let number =
            totals[0] == totals[1] ? "\(totals[0])" : "\(totals[0]) and \(totals[1])"
        return DiagnosisTable(
            title: "operations: \(state), \(number)"
                + (changed.isEmpty ? "" : "; kinds whose numbers differ"),
            header: changed.isEmpty ? [] : ["kind", "first", "second"],
            rows: changed.map { [$0.kind, "\($0.first)", "\($0.second)"] }, numbers: [1, 2],
            notes: operationNotes)
    }

    private var operationNotes: [String] {
        if let obstacle = operations.obstacle {
            return ["their order could not be compared: \(obstacle)"]
        }
        guard let difference = operations.firstDifference else { return [] }
        let places = [("first", difference.first), ("second", difference.second)].map {
            "  \($0): " + ($1?.text ?? "no more operations")
        }
        return ["the first that differs in the order of computation:"] + places
            + difference.changes.map {
                "  \($0.place): \($0.first ?? "-") → \($0.second ?? "-")"
            }
    }
}

extension ModelDiff.OperationPlace {
    fileprivate var text: String { "\(name) (\(operation)) \(shape)" }
}

// MARK: Weights

extension ModelDiff {
    private var weightTable: DiagnosisTable {
        let rows = changedRows + roundedRows
        let isLong = rows.count > Self.listedCount
        return DiagnosisTable(
            title: "weights: \(weightSummary)",
            header: rows.isEmpty
                ? [] : ["weight", "shape", "what", "max |e|", "of max |x|", "SNR dB"],
            rows: Array(rows.prefix(Self.listedCount)), numbers: [3, 4, 5],
            notes: (isLong ? ["\(rows.count - Self.listedCount) more; --json has all"] : [])
                + renamedNotes)
    }

    private func pairs(_ relation: WeightPair.Relation) -> [WeightPair] {
        weights.pairs.filter { $0.relation == relation }
    }

    private var weightSummary: String {
        let counts =
            WeightPair.Relation.allCases.map { ($0.word, pairs($0).count) } + [
                ("only in the first", weights.onlyFirst.count),
                ("only in the second", weights.onlySecond.count),
            ]
        let text = counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
        return text.isEmpty ? "none" : text
    }

    /// The weights that differ in more than their precision.
    private var changedRows: [[String]] {
        let paired = weights.pairs.filter { ![.same, .rounded].contains($0.relation) }.map(\.row)
        func row(_ weight: Weight, _ place: String) -> [String] {
            [weight.name, "\(weight.shape)", "only in the \(place)", "", "", ""]
        }
        return paired + weights.onlyFirst.map { row($0, "first") }
            + weights.onlySecond.map { row($0, "second") }
    }

    /// Weights of another precision, a row for each kind: the one with the largest error.
    private var roundedRows: [[String]] {
        let kinds = Dictionary(grouping: pairs(.rounded), by: \.storages)
        return kinds.sorted { $0.key < $1.key }.compactMap { storages, pairs in
            let worst = pairs.max { ($0.relativeError ?? 0) < ($1.relativeError ?? 0) }
            guard let worst else { return nil }
            var row = worst.row
            if pairs.count > 1 {
                row[0] = "\(pairs.count) weights, the worst \(worst.name)"
            }
            row[2] = storages
            return row
        }
    }

    private var renamedNotes: [String] {
        let renamed = weights.pairs.filter { $0.relation == .same && $0.isRenamed }
        guard !renamed.isEmpty else { return [] }
        return ["same values under another name: \(renamed.map(\.name).listed())"]
    }
}

extension ModelDiff.WeightPair.Relation {
    fileprivate var word: String {
        switch self {
        case .same: "same"
        case .rounded: "of another precision"
        case .reordered: "in another order"
        case .changed: "changed"
        case .reshaped: "of another shape"
        }
    }
}

extension ModelDiff.WeightPair {
    /// The name, or both if it has changed.
    fileprivate var name: String {
        isRenamed ? "\(first.name) → \(second.name)" : first.name
    }

    fileprivate var storages: String {
        guard first.storage != second.storage else { return "rounded otherwise" }
        return "\(first.storage ?? "unstated") → \(second.storage ?? "unstated")"
    }

    fileprivate var row: [String] {
        let shapes =
            first.shape == second.shape
            ? "\(first.shape)" : "\(first.shape) → \(second.shape)"
        let errors = error.map { error in
            [
                Format.significant(error.maxAbs),
                relativeError.map { Format.share($0) } ?? "", Format.fixed(error.snr, 2),
            ]
        }
        return [name, shapes, order ?? relation.word] + (errors ?? ["", "", ""])
    }
}
