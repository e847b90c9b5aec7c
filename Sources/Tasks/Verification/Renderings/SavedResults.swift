import Foundation
import RetintFiles

// The file that `retint verify --save` writes: all figures, with keys in snake_case. If it is
// recorded on which files they were measured, they are the predicate of a statement of in-toto.
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

    /// Writes the results as one JSON object, replacing an existing file: with a record, as a
    /// statement of in-toto about the files of the model, whose predicate the results are.
    ///
    /// - Throws: `FileError` if it cannot be written.
    public func write(to path: some PathConvertible) throws {
        let encoder = JSONEncoder.ofResults
        encoder.outputFormatting.insert(.prettyPrinted)
        var data = try encoder.encode(self)
        if let record {
            let predicate = try JSONDecoder().decode(JSONTree.self, from: data)
            encoder.keyEncodingStrategy = .useDefaultKeys
            data = try encoder.encode(Statement(about: record.subject, predicate))
        }
        try AtomicFile.write(Array(data) + [UInt8(ascii: "\n")], to: path)
    }

    private static func decoded(_ data: Data, path: String) throws -> VerificationResults {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        let isStatement = (try? decoder.decode(StatementHead.self, from: data)) != nil
        guard isStatement else { return try decoded(data, by: decoder, path) }
        let statement = try decoder.decode(Statement<PredicateHead>.self, from: data)
        if let flaw = statement.flaw {
            throw VerificationError(.badResults, path: path, place: flaw.place, flaw.rule)
        }
        if let head = statement.predicate.head { try check(head, path, "predicate.") }
        let whole = try decoder.decode(Statement<VerificationResults>.self, from: data)
        var results = whole.predicate
        results.record?.subject = whole.subject
        return results
    }

    /// Results that are not a statement: those without a record.
    private static func decoded(
        _ data: Data, by decoder: JSONDecoder, _ path: String
    ) throws -> VerificationResults {
        if let head = try? decoder.decode(Head.self, from: data), head.format == format {
            try check(head, path)
        }
        let results = try decoder.decode(Self.self, from: data)
        try check(decoder.decode(Head.self, from: data), path)
        return results
    }

    private static func check(_ head: Head, _ path: String, _ prefix: String = "") throws {
        guard head.format == format else {
            throw VerificationError(
                .badResults, path: path, place: prefix + "format",
                "must be \"\(format)\"; name a file that retint verify --save has written")
        }
        guard head.version == version else {
            throw VerificationError(
                .badResults, path: path, place: prefix + "version",
                "is \(head.version), but this retint reads \(version); verify again and "
                    + "save the results")
        }
    }
}

extension JSONEncoder {
    /// The encoder of saved results.
    fileprivate static var ofResults: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return encoder
    }
}

extension [VerificationReport] {
    /// All figures and bounds as saved results have them, in one line.
    var encodedAsFigures: Data {
        get throws { try JSONEncoder.ofResults.encode(self) }
    }

    /// What detects a change of the figures in a file.
    fileprivate var digest: FigureDigest {
        get throws {
            var hash = ContentHash()
            hash.update([UInt8](try encodedAsFigures))
            return FigureDigest(sha256: hash.digest.hexadecimal)
        }
    }
}

// MARK: Statements

/// The digest of the figures in saved results.
struct FigureDigest: Hashable, Sendable, Codable {
    let sha256: String
}

/// A statement of in-toto, version 1, about the files of a model.
private struct Statement<Predicate> {
    let type: String
    let subject: [FileDigest]
    let predicateType: String
    let predicate: Predicate
}

/// What shows that a file is a statement.
private struct StatementHead: Decodable {
    let type: String

    enum CodingKeys: String, CodingKey {
        case type = "_type"
    }
}

extension Statement {
    fileprivate enum CodingKeys: String, CodingKey {
        case type = "_type"
        case subject, predicateType, predicate
    }

    private static var types: (statement: String, predicate: String) {
        ("https://in-toto.io/Statement/v1", "urn:retint:verification:v2")
    }

    init(about subject: [FileDigest], _ predicate: Predicate) {
        (type, predicateType) = Self.types
        (self.subject, self.predicate) = (subject, predicate)
    }

    /// What makes it a statement of another kind.
    var flaw: (place: String, rule: String)? {
        let remedy = "; name a file that retint verify --save has written"
        if type != Self.types.statement {
            return ("_type", "must be \"\(Self.types.statement)\"" + remedy)
        }
        if predicateType != Self.types.predicate {
            return ("predicateType", "must be \"\(Self.types.predicate)\"" + remedy)
        }
        return subject.isEmpty ? ("subject", "must not be empty" + remedy) : nil
    }
}

extension Statement: Encodable where Predicate: Encodable {}
extension Statement: Decodable where Predicate: Decodable {}

// MARK: Coding

extension VerificationResults: Codable {
    private static let format = "retint verification"
    private static let version = 2

    /// The part that shows whether this version of retint can read the rest.
    fileprivate struct Head: Decodable {
        let format: String
        let version: Int
    }

    /// The head of a predicate, as far as there is one.
    fileprivate struct PredicateHead: Decodable {
        let head: Head?

        init(from decoder: any Decoder) throws { head = try? Head(from: decoder) }
    }

    private enum CodingKeys: String, CodingKey {
        case format, version, environment, missing, arguments, inputs, figures
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
        guard container.contains(.arguments) else { return }
        record = VerificationRecord(
            subject: [], inputs: try container.decode([FileDigest].self, forKey: .inputs),
            arguments: try container.decode([String].self, forKey: .arguments))
        savedFigures = try container.decode(FigureDigest.self, forKey: .figures)
    }

    /// Encodes all figures.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.format, forKey: .format)
        try container.encode(Self.version, forKey: .version)
        try container.encode(environment, forKey: .environment)
        try container.encode(reports, forKey: .reports)
        try container.encode(missing, forKey: .missing)
        guard let record else { return }
        try container.encode(record.arguments, forKey: .arguments)
        try container.encode(record.inputs, forKey: .inputs)
        try container.encode(reports.digest, forKey: .figures)
    }
}

extension VerificationResults {
    /// Checks that the figures are those that were saved, for a replay, whose results are compared
    /// with them.
    ///
    /// - Parameter path: the file of the results.
    /// - Returns: the record of the run.
    /// - Throws: ``VerificationError`` if the file has no record, or has been changed.
    public func intactRecord(in path: some PathConvertible) throws -> VerificationRecord {
        let path = path.filePath.string
        guard let record else {
            throw VerificationError(
                .badResults, path: path,
                "does not say on which files the figures were measured; verify again, and save the "
                    + "results with this version")
        }
        guard try savedFigures == reports.digest else {
            throw VerificationError(
                .badResults, path: path, place: "predicate.judges",
                "is not what was saved: its SHA-256 is not that of predicate.figures; restore the "
                    + "file, or verify again")
        }
        return record
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
