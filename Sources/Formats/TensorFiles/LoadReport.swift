public import RetintTensors

/// The differences between the tensors of a file and those that a model expects.
public struct LoadReport: Hashable, Sendable {
    /// A tensor of the model or of the file.
    public struct Tensor: Hashable, Sendable {
        /// The dotted name.
        public let name: String
        /// The shape.
        public let shape: Shape
    }

    /// A tensor whose shape in the file is not that of the model.
    public struct Misshaped: Hashable, Sendable {
        /// The dotted name.
        public let name: String
        /// The shape in the model.
        public let expected: Shape
        /// The shape in the file.
        public let found: Shape
    }

    /// The number of tensors that the model expects.
    public let expectedCount: Int
    /// Expected by the model and not in the file, in the model's order.
    public let missing: [Tensor]
    /// In the file and not expected by the model, in the file's order.
    public let unexpected: [Tensor]
    /// In both, with different shapes.
    public let misshaped: [Misshaped]

    /// Whether the file has exactly the tensors of the model.
    public var isStrict: Bool { missing.isEmpty && unexpected.isEmpty && misshaped.isEmpty }
}

extension StateDict {
    /// Compares names and shapes with those of a model, including tensors that were not read.
    public func compare(expected: [(name: String, shape: Shape)]) -> LoadReport {
        let known = Set(expected.map(\.name))
        let unexpected = (names + unread.keys.sorted()).filter { !known.contains($0) }
        return LoadReport(
            expectedCount: expected.count,
            missing: expected.filter { shape(of: $0.name) == nil }.map(LoadReport.Tensor.init),
            unexpected: unexpected.map { LoadReport.Tensor(name: $0, shape: shape(of: $0)!) },
            misshaped: expected.compactMap(misshaped))
    }

    private func shape(of name: String) -> Shape? {
        self[name]?.shape ?? unread[name]
    }

    private func misshaped(name: String, expected: Shape) -> LoadReport.Misshaped? {
        guard let found = shape(of: name), found != expected else { return nil }
        return LoadReport.Misshaped(name: name, expected: expected, found: found)
    }
}

extension LoadReport: CustomStringConvertible {
    /// A line of counts, followed by a table of the differences.
    public var description: String {
        guard !isStrict else { return "all \(expectedCount) tensors match" }
        let header = ["", "tensor", "expected", "found"]
        let counts = [
            (missing.count, "missing"), (misshaped.count, "mis-shaped"),
            (unexpected.count, "unexpected"),
        ]
        let more = counts.filter { $0.0 > Self.shown }.map { "\($0.0 - Self.shown) \($0.1)" }
        return
            ([summary] + Self.aligned([header] + rows)
            + (more.isEmpty ? [] : ["  and \(more.joined(separator: ", ")) more"]))
            .joined(separator: "\n")
    }

    /// The rows of each kind: a file may have far more tensors than any network, with names that
    /// fill the screen.
    private static let (shown, shownCharacters) = (8, 100)

    private var summary: String {
        "of \(expectedCount) expected tensors \(missing.count) missing, "
            + "\(misshaped.count) mis-shaped; \(unexpected.count) unexpected"
    }

    private var rows: [[String]] {
        missing.prefix(Self.shown).map { ["missing", $0.name, "\($0.shape)", "-"] }
            + misshaped.prefix(Self.shown).map {
                ["mis-shaped", $0.name, "\($0.expected)", "\($0.found)"]
            }
            + unexpected.prefix(Self.shown).map {
                ["unexpected", Self.shortened($0.name), "-", "\($0.shape)"]
            }
    }

    private static func shortened(_ name: String) -> String {
        name.count <= shownCharacters ? name : name.prefix(shownCharacters - 1) + "…"
    }

    private static func aligned(_ rows: [[String]]) -> [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max()! }
        return rows.map { row in
            let cells = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            return "  " + cells.joined(separator: "  ").trimmingSuffix(" ")
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ character: Character) -> String {
        var result = self[...]
        while result.last == character { result.removeLast() }
        return String(result)
    }
}
