// The model's values are keys of the report itself, not of a nested object.

extension EvaluationReport: Encodable {
    private enum CodingKeys: String, CodingKey {
        case proportions, enlargement
        case images, failed, height, width, gray, meanColor, original, features, oldPhoto, photos
    }

    private struct Original: Encodable {
        let colorfulness: Double
        let nearGrayShare: Double
    }

    /// Encodes the metrics of ``colored`` as keys of the report itself, and only the number of
    /// failures. The name of the model is omitted.
    public func encode(to encoder: any Encoder) throws {
        try colored.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(photos.count, forKey: .images)
        try container.encode(failures.count, forKey: .failed)
        try container.encode(height, forKey: .height)
        try container.encode(width, forKey: .width)
        try container.encodeIfPresent(fitting?.proportions.rawValue, forKey: .proportions)
        try container.encodeIfPresent(fitting?.enlargement.rawValue, forKey: .enlargement)
        try container.encode(gray, forKey: .gray)
        try container.encode(meanColor, forKey: .meanColor)
        let original = Original(
            colorfulness: originalColorfulness, nearGrayShare: originalNearGrayShare)
        try container.encode(original, forKey: .original)
        try container.encodeIfPresent(features, forKey: .features)
        if !damage.isEmpty { try container.encode(damage.map(\.rawValue), forKey: .oldPhoto) }
        try container.encode(photos, forKey: .photos)
    }
}

extension EvaluationReport.Column: Encodable {
    private enum CodingKeys: String, CodingKey {
        case confidence95 = "confidence_95"
    }

    /// Encodes the metrics as keys of the column itself, and the intervals as `confidence_95`.
    public func encode(to encoder: any Encoder) throws {
        try quality.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(interval, forKey: .confidence95)
    }
}

extension EvaluationReport.Photo: Encodable {
    private enum CodingKeys: CodingKey { case file }

    /// Encodes the metrics and the file as keys of one object.
    public func encode(to encoder: any Encoder) throws {
        try quality.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(file, forKey: .file)
    }
}
