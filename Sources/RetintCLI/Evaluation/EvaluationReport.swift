import Retint

/// What `evaluate` has to say.
struct EvaluationReport: Encodable {
    /// The values of a way to color photos, and between what they lie.
    struct Column {
        let quality: ColorQuality
        /// Nil for one photo alone.
        let interval: ConfidenceInterval?

        init?(_ pictures: [PictureQuality]) {
            guard let quality = ColorQuality(pictures) else { return nil }
            self.quality = quality
            interval = ConfidenceInterval(pictures)
        }
    }

    let model: String
    let failed: Int
    let size: (height: Int, width: Int)
    let own: Column
    let gray: Column
    let meanColor: Column
    let originalColorfulness: Double
    let photos: [(file: String, quality: ColorQuality)]

    var images: Int { photos.count }

    /// Nil where no photo was evaluated.
    init?(
        _ evaluation: Evaluation, photos: [String], failed: Int, model: String,
        size: (height: Int, width: Int)
    ) {
        guard let own = Column(evaluation.colored), let gray = Column(evaluation.gray),
            let meanColor = Column(evaluation.uniform),
            let colorfulness = evaluation.originalColorfulness
        else { return nil }
        (self.own, self.gray, self.meanColor) = (own, gray, meanColor)
        (self.model, self.failed, self.size) = (model, failed, size)
        originalColorfulness = colorfulness
        self.photos = zip(photos, evaluation.colored).map { ($0, $1.quality) }
    }
}

/// A line of the table: a measure, and how to print it.
extension EvaluationReport {
    struct Measure {
        let name: String
        let digits: Int
        let value: (ColorQuality) -> Double?
    }

    static var measures: [Measure] {
        [
            Measure(name: "PSNR (dB)", digits: 2) { $0.psnrDb },
            Measure(name: "SSIM", digits: 4) { $0.ssim },
            Measure(name: "ΔE2000", digits: 2) { $0.deltaE2000 },
            Measure(name: "ab error", digits: 2) { $0.abError },
            Measure(name: "ab AuC", digits: 4) { $0.abAuc },
            Measure(name: "ab AuC rebalanced", digits: 4) { $0.abAucRebalanced },
            Measure(name: "colorfulness", digits: 2) { $0.colorfulness },
            Measure(name: "… off by", digits: 2) { $0.colorfulnessDifference },
        ]
    }

    var header: [String] {
        ["", "model", "95 %", "gray", "95 %", "mean color", "95 %", "original"]
    }

    var rows: [[String]] {
        Self.measures.map { measure in
            func text(_ quality: ColorQuality) -> String {
                Format.fixed(measure.value(quality) ?? .nan, measure.digits)
            }
            let values = [own, gray, meanColor].flatMap { column in
                [
                    text(column.quality),
                    column.interval.map { "\(text($0.low)) … \(text($0.high))" } ?? "",
                ]
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

/// The model's own values stand beside the rest, not in an object of their own.
extension EvaluationReport {
    private enum CodingKeys: String, CodingKey {
        case images, failed, height, width, gray, meanColor, original, photos
        case confidence95 = "confidence_95"
    }

    private struct Original: Encodable {
        let colorfulness: Double
    }

    /// A column that is no object's whole.
    private struct Nested: Encodable {
        let column: Column

        func encode(to encoder: any Encoder) throws {
            try column.quality.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(Bounds(column.interval), forKey: .confidence95)
        }
    }

    private struct Bounds: Encodable {
        let low: ColorQuality
        let high: ColorQuality

        init?(_ interval: ConfidenceInterval?) {
            guard let interval else { return nil }
            (low, high) = (interval.low, interval.high)
        }
    }

    private struct Photo: Encodable {
        let file: String
        let quality: ColorQuality

        private enum CodingKeys: CodingKey { case file }

        func encode(to encoder: any Encoder) throws {
            try quality.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(file, forKey: .file)
        }
    }

    func encode(to encoder: any Encoder) throws {
        try Nested(column: own).encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(images, forKey: .images)
        try container.encode(failed, forKey: .failed)
        try container.encode(size.height, forKey: .height)
        try container.encode(size.width, forKey: .width)
        try container.encode(Nested(column: gray), forKey: .gray)
        try container.encode(Nested(column: meanColor), forKey: .meanColor)
        try container.encode(Original(colorfulness: originalColorfulness), forKey: .original)
        try container.encode(photos.map { Photo(file: $0, quality: $1) }, forKey: .photos)
    }
}
