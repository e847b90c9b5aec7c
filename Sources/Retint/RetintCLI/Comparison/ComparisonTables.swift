import Foundation
import Retint

/// A comparison as Markdown: a table of sizes and times, then one of quality.
struct ComparisonTables {
    private let comparison: ModelComparison
    /// The models' names in the tables.
    let names: [String]

    init(_ comparison: ModelComparison) {
        self.comparison = comparison
        names = Self.shortNames(comparison.models.map(\.name))
    }

    var lines: [String] { costLines + qualityLines }

    /// The names without folder and extension, unless two models would then have the same name.
    private static func shortNames(_ names: [String]) -> [String] {
        let short = names.map {
            URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent
        }
        return Set(short).count == short.count ? short : names
    }
}

// MARK: Size and time

extension ComparisonTables {
    private struct CostColumn {
        let title: String
        let text: (ModelComparison.Entry) -> String
    }

    private var costLines: [String] {
        let reference = Format.fixed(comparison.reference.medianSeconds * 1e3, 0)
        var columns = [
            CostColumn(title: "parameters") { Format.grouped($0.size.parameters) },
            CostColumn(title: "GMAC") { Format.fixed(Double($0.size.multiplyAdds) / 1e9, 2) },
            CostColumn(title: "operations") { "\($0.size.operations)" },
        ]
        columns += byteColumns
        columns += [
            CostColumn(title: "time") { Format.fixed($0.medianSeconds * 1e3, 1) + " ms" },
            CostColumn(title: "of ECCV16's \(reference) ms") { Self.share($0.speedup) },
        ]
        let rows = zip(names, comparison.models).map { name, model in
            ["`\(name)`"] + columns.map { $0.text(model) }
        }
        return markdownTable(
            ["model"] + columns.map(\.title), rows, rightAligned: Set(1...columns.count))
    }

    /// The columns in which any model has a value.
    private var byteColumns: [CostColumn] {
        let all: [(title: String, bytes: KeyPath<ModelComparison.Size, Int?>)] = [
            ("float16", \.float16Bytes), ("int8", \.int8Bytes), ("package", \.packageBytes),
        ]
        return all.filter { column in
            comparison.models.contains { $0.size[keyPath: column.bytes] != nil }
        }.map { column in
            CostColumn(title: column.title) { model in
                model.size[keyPath: column.bytes].map { megabytes($0) } ?? "–"
            }
        }
    }

    /// The share of the reference's time: `1/26`, or `1.4` for a slower model.
    private static func share(_ speedup: Double) -> String {
        if speedup < 1 { return Format.fixed(1 / speedup, 1) }
        return "1/" + Format.fixed(speedup, speedup < 10 ? 1 : 0)
    }
}

private func megabytes(_ bytes: Int) -> String { Format.fixed(Double(bytes) / 1e6, 2) + " MB" }

// MARK: Quality

extension ComparisonTables {
    /// Empty without photos.
    private var qualityLines: [String] {
        let reports = comparison.models.compactMap(\.quality)
        guard let first = reports.first else { return [] }
        let columns = reports.map(\.colored) + [first.gray, first.meanColor]
        let rows = QualityMeasure.measured(in: columns).map { measure in
            [measure.name]
                + columns.map { column in
                    let value = measure.text(column.quality)
                    return measure.text(column.interval).map { "\(value) (\($0))" } ?? value
                }
        }
        let header = [""] + names.map { "`\($0)`" } + ["gray", "mean color"]
        let note =
            "\(first.photos.count) photos at \(first.width) × \(first.height), with 95 % bootstrap "
            + "confidence intervals. The colorfulness of the photos is "
            + "\(Format.fixed(first.originalColorfulness, 1)).\(first.featuresText)"
        return [""] + markdownTable(header, rows) + ["", note]
    }
}
