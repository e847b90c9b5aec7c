import Retint

extension EvaluationReport {
    /// The network of the Fréchet distance, if it was measured.
    var featuresText: String {
        features.map { " The Fréchet distance is between features of \($0)." } ?? ""
    }

    /// The size at which photos were compared, and the damage that the model saw.
    var sizeText: String {
        let size =
            fitting.map {
                "their own size, \($0.proportions.rawValue), \($0.enlargement.rawValue)"
            } ?? "\(width) × \(height)"
        guard !damage.isEmpty else { return size }
        return size + ", damaged by " + damage.map(\.rawValue).joined(separator: ", ")
    }

    var header: [String] {
        ["", "model", "95 %", "gray", "95 %", "mean color", "95 %", "original"]
    }

    var rows: [[String]] {
        let columns = [colored, gray, meanColor]
        return QualityMeasure.measured(in: columns).map { measure in
            let values = columns.flatMap { column in
                [measure.text(column.quality), measure.text(column.interval) ?? ""]
            }
            let original =
                measure.name == "colorfulness"
                ? Format.fixed(originalColorfulness, measure.digits) : ""
            return [measure.name] + values + [original]
        }
    }

    var table: TextTable {
        var table = TextTable(header: header, rightAligned: Set(1...7))
        for row in rows { table.append(row) }
        return table
    }
}
