import Retint

/// Photos that the last model of a comparison colors worse than the first, and better, as an HTML
/// page.
struct ComparisonPage {
    /// Photos of each kind.
    private static let shown = 8

    private let comparison: ModelComparison
    private let names: [String]
    private let colorizers: [Colorizer]
    private let photos: [String: PhotoReference]
    private let photoNames: PageNames

    /// - Parameter models: those of the comparison, which has measured their colors.
    init(_ comparison: ModelComparison, _ models: [Model], _ photos: [PhotoReference]) throws {
        self.comparison = comparison
        names = ComparisonTables(comparison).names
        colorizers = try models.map {
            try Colorizer($0, size: comparison.size, fitting: PhotoFitting(enlargement: .bilinear))
        }
        self.photos = Dictionary(photos.map { ("\($0)", $0) }) { first, _ in first }
        photoNames = PageNames(photos.map { "\($0)" })
    }

    func write(to path: String) throws {
        let changes = changes
        let lost = changes.filter { $0.loss > 0 }
        let gained = changes.filter { $0.loss < 0 }
        let (first, last) = (names[0], names[names.count - 1])
        let head = """
            <h1>\(last.escapedForHTML) next to \(first.escapedForHTML)</h1>
            <p>ΔE2000 of \(changes.count) photos at \(comparison.size) × \(comparison.size): \
            \(last.escapedForHTML) is worse on \(lost.count) and better on \(gained.count).</p>
            """
        let page = HTMLPage(
            title: "\(last) next to \(first)",
            body: [
                head, table,
                try section("Photos that lost most", lost.prefix(Self.shown)),
                try section("Photos that gained most", gained.reversed().prefix(Self.shown)),
                htmlEnvironment("arithmetic: float32"),
            ])
        try page.write(to: path)
    }

    private var table: String {
        let rows = zip(names, comparison.models).map { name, model in
            [
                name, Format.fixed(model.medianSeconds * 1e3, 1) + " ms",
                model.quality.map { Format.fixed($0.colored.quality.deltaE2000, 2) } ?? "–",
                model.quality.map { Format.fixed($0.colored.quality.colorfulness, 1) } ?? "–",
            ]
        }
        return HTMLPage.table(
            ["model", "time", "ΔE2000", "colorfulness"], rows, textColumns: 1)
    }

    /// One photo's ΔE2000 with each model.
    private struct Change {
        let file: String
        let errors: [Double]

        /// Of the last model against the first.
        var loss: Double { errors[errors.count - 1] - errors[0] }
    }

    /// The largest loss first.
    private var changes: [Change] {
        let qualities = comparison.models.compactMap { $0.quality?.photos }
        guard let first = qualities.first else { return [] }
        return first.indices.map { index in
            Change(
                file: first[index].file, errors: qualities.map { $0[index].quality.deltaE2000 })
        }.sorted { ($1.loss, $0.file) < ($0.loss, $1.file) }
    }

    private func section(_ title: String, _ changes: some Sequence<Change>) throws -> String {
        let strips = try changes.compactMap(strip)
        return "<h2>\(title)</h2>\n"
            + (strips.isEmpty ? "<p>None.</p>" : strips.joined(separator: "\n"))
    }

    /// - Returns: nil for a photo that can no longer be found.
    private func strip(_ change: Change) throws -> String? {
        guard let reference = photos[change.file] else { return nil }
        let photo = try reference.image().scaledDown(toShortSide: comparison.size)
        var images = [("gray", photo.gray)]
        for (index, colorizer) in colorizers.enumerated() {
            let error = Format.fixed(change.errors[index], 2)
            images.append(
                ("\(names[index].escapedForHTML) \(error)", try colorizer.colorize(photo)))
        }
        let sign = change.loss > 0 ? "+" : "−"
        return try HTMLPage.strip(
            photoNames(change.file),
            note: "ΔE2000 \(sign)\(Format.fixed(change.loss.magnitude, 2))",
            images + [("photo", photo)])
    }
}
