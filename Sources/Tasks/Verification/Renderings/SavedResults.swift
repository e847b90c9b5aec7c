import Foundation
import RetintFiles

// The file that `retint verify --save` writes: all figures, with keys in snake_case.
extension VerificationResults {
    /// Whether a path names results and not a model: its name ends in `.json`, or the
    /// file begins as JSON does.
    public static func isFile(at path: some PathConvertible) -> Bool {
        if path.filePath.extension == "json" { return true }
        return (try? RegularFile(path).bytes(at: 0, count: 1)) == [UInt8(ascii: "{")]
    }

    private static let maximumBytes = 64 << 20

    /// Reads results.
    ///
    /// - Throws: `FileError` if the file cannot be read; ``VerificationError`` with the place if it
    ///   is not what ``write(to:)`` writes.
    public init(contentsOf path: some PathConvertible) throws {
        let bytes = try RegularFile(path).contents(maximumBytes: Self.maximumBytes)
        do {
            self = try Self.decoded(Data(bytes), path: path.filePath.string)
        } catch let error as DecodingError {
            throw VerificationError(error, path: path.filePath.string)
        }
        try ResultsCheck(path)(self)
    }

    /// Writes the results as one JSON object, replacing an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    public func write(to path: some PathConvertible) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        let bytes = Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        try AtomicFile.write(bytes, to: path)
    }

    private static func decoded(_ data: Data, path: String) throws -> VerificationResults {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        let head = try? decoder.decode(Head.self, from: data)
        if let head, head.format == Self.format, head.version != Self.version {
            throw VerificationError(
                .badResults, path: path, place: "version",
                "is \(head.version), but this retint reads \(Self.version); verify again and "
                    + "save the results")
        }
        let results = try decoder.decode(Self.self, from: data)
        guard head?.format == Self.format else {
            throw VerificationError(
                .badResults, path: path, place: "format",
                "must be \"\(Self.format)\"; name a file that retint verify --save has written")
        }
        return results
    }
}

// MARK: Coding

extension VerificationResults: Codable {
    private static let format = "retint verification"
    private static let version = 2

    /// The part that shows whether this version of retint can read the rest.
    private struct Head: Decodable {
        let format: String
        let version: Int
    }

    private enum CodingKeys: String, CodingKey {
        case format, version, environment, missing
        case reports = "judges"
    }

    /// Decodes results of the version that this retint writes.
    public init(from decoder: any Decoder) throws {
        _ = try Head(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        environment = try container.decode(
            VerificationResults.Environment.self, forKey: .environment)
        reports = try container.decode([VerificationReport].self, forKey: .reports)
        missing = try container.decode([VerificationResults.MissingJudge].self, forKey: .missing)
    }

    /// Encodes all figures.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.format, forKey: .format)
        try container.encode(Self.version, forKey: .version)
        try container.encode(environment, forKey: .environment)
        try container.encode(reports, forKey: .reports)
        try container.encode(missing, forKey: .missing)
    }
}

// MARK: Errors

extension VerificationError {
    /// A file that is not JSON, or whose keys or values are not those of results.
    fileprivate init(_ error: DecodingError, path: String) {
        let remedy = "; name a file that retint verify --save has written"
        func at(_ keys: [any CodingKey], _ rule: String) -> VerificationError {
            VerificationError(.badResults, path: path, place: jsonPlace(of: keys), rule + remedy)
        }
        self =
            switch error {
            case .keyNotFound(let key, let context): at(context.codingPath + [key], "is missing")
            case .typeMismatch(let type, let context):
                at(context.codingPath, "must be \(words(for: type))")
            case .valueNotFound(let type, let context):
                at(context.codingPath, "must be \(words(for: type))")
            case .dataCorrupted(let context) where context.codingPath.isEmpty:
                at([], "cannot be read as JSON")
            case .dataCorrupted(let context):
                at(context.codingPath, "must have one of the values that retint writes")
            @unknown default: at([], "cannot be read")
            }
    }
}

/// `outputs[0].max_abs`, from the keys as Swift spells them.
private func jsonPlace(of keys: [any CodingKey]) -> String {
    keys.reduce("") { place, key in
        if let index = key.intValue { return place + "[\(index)]" }
        let name = key.stringValue.reduce(into: "") { name, letter in
            name += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
        }
        return place.isEmpty ? name : place + "." + name
    }
}

private func words(for type: Any.Type) -> String {
    switch type {
    case is Double.Type: "a number"
    case is Int.Type: "a whole number"
    case is String.Type: "text"
    case is Bool.Type: "true or false"
    case is [Any].Type: "a list"
    default: "an object"
    }
}
