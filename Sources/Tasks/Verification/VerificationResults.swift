import Foundation
import RetintFiles

/// What a verification has measured, to be kept and judged by other bounds without another run.
///
/// Every bound can be judged again: beside the figures, the file has the values that decide a bound
/// |c − e| ≤ atol + rtol·|e|, for all atol and rtol.
public struct VerificationResults: Sendable {
    /// The figures of each judge that ran, and the bounds that they were judged by.
    public let reports: [VerificationReport]
    /// The judges that were asked for, and did not run.
    public let missing: [MissingJudge]
    /// What measured them.
    public let environment: VerificationEnvironment

    /// Joins figures with what measured them.
    ///
    /// - Parameters:
    ///   - reports: the figures of each judge that ran.
    ///   - missing: the judges that were asked for, and did not run.
    ///   - environment: what measured them.
    public init(
        _ reports: [VerificationReport], missing: [MissingJudge] = [],
        environment: VerificationEnvironment
    ) {
        self.reports = reports
        self.missing = missing
        self.environment = environment
    }

    /// Whether all judges ran the model, and it meets every bound by each of them.
    public var passed: Bool {
        !reports.isEmpty && missing.isEmpty && reports.allSatisfy(\.passed)
    }

    /// The same figures, judged by other bounds.
    ///
    /// - Parameter bounds: the bounds for the figures of a judge.
    public func judged(
        by bounds: (VerificationReport) -> VerificationBounds
    ) -> VerificationResults {
        VerificationResults(
            reports.map { $0.judged(by: bounds($0)) }, missing: missing, environment: environment)
    }

    /// Whether a path is that of results rather than of a model: its name ends in `.json`, or the
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
        self = try ResultsFile(bytes, path: path.filePath.string).results(ResultsCheck(path))
    }

    /// Writes the results as one JSON object, replacing an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    public func write(to path: some PathConvertible) throws {
        try AtomicFile.write(try ResultsFile(self).json(), to: path)
    }
}

/// What measured the figures of a verification.
public struct VerificationEnvironment: Hashable, Sendable, Codable {
    /// The version of retint.
    public let retint: String
    /// The name of the processor.
    public let processor: String

    /// Names what measures.
    public init(retint: String, processor: String) {
        self.retint = retint
        self.processor = processor
    }
}

// Encode with `convertToSnakeCase`.
extension VerificationResults: Encodable {
    private enum CodingKeys: String, CodingKey {
        case passed, judges, missing
    }

    /// Encodes the figures and the verdict: of one judge as its report, of several as a list.
    public func encode(to encoder: any Encoder) throws {
        if reports.count == 1, missing.isEmpty { return try reports[0].encode(to: encoder) }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(passed, forKey: .passed)
        try container.encode(reports, forKey: .judges)
        try container.encode(missing, forKey: .missing)
    }
}
