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

    /// How much closer to the original skin is with the model's colors than without color, by tone;
    /// nil without skin.
    var skinGains: String? {
        let gains = QualityMeasure.skinTones.compactMap {
            name, path -> (name: String, gain: Double)? in
            guard let own = colored.quality.skin[keyPath: path],
                let gray = gray.quality.skin[keyPath: path], gray > 0
            else { return nil }
            return (name, 1 - own / gray)
        }
        guard let most = gains.map(\.gain).max(), let least = gains.map(\.gain).min() else {
            return nil
        }
        let list = gains.map { "\($0.name) \(Format.fixed($0.gain, 3))" }.joined(separator: ", ")
        let ratio = most > 0 ? "; the least is \(Format.fixed(least / most, 2)) of the most" : ""
        return "skin, ΔE2000 less than gray's by a share of: \(list)\(ratio)"
    }

    var header: [String] {
        ["", "model", "95 %", "gray", "95 %", "mean color", "95 %", "original"]
    }

    func rows(_ selection: QualityMeasure.Selection = .all) -> [[String]] {
        let columns = [colored, gray, meanColor]
        return QualityMeasure.measured(in: columns, selection).map { measure in
            let values = columns.flatMap { column in
                [measure.text(column.quality), measure.text(column.interval) ?? ""]
            }
            let original =
                ["colorfulness", "CF"].contains(measure.name)
                ? Format.fixed(originalColorfulness, measure.digits) : ""
            return [measure.name] + values + [original]
        }
    }

    func table(_ selection: QualityMeasure.Selection) -> TextTable {
        var table = TextTable(header: header, rightAligned: Set(1...7))
        for row in rows(selection) { table.append(row) }
        return table
    }
}
