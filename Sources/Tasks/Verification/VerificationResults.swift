import Foundation
import RetintFiles

/// The measurements of a verification, saved to be checked against other bounds without another
/// run.
///
/// Every bound can be checked again: in addition to the measurements, the file has the values that
/// decide a bound |c − e| ≤ atol + rtol·|e|, for any atol and rtol.
public struct VerificationResults: Sendable {
    /// The measurements of each runtime, and the bounds that they were checked against.
    public let reports: [VerificationReport]
    /// The requested runtimes that did not run.
    public let missing: [MissingJudge]
    /// The environment of the measurement.
    public let environment: VerificationEnvironment

    /// Combines measurements with their environment.
    ///
    /// - Parameters:
    ///   - reports: the measurements of each runtime.
    ///   - missing: the requested runtimes that did not run.
    ///   - environment: the environment of the measurement.
    public init(
        _ reports: [VerificationReport], missing: [MissingJudge] = [],
        environment: VerificationEnvironment
    ) {
        self.reports = reports
        self.missing = missing
        self.environment = environment
    }

    /// Whether the model ran in all runtimes, and meets every bound in each of them.
    public var passed: Bool {
        !reports.isEmpty && missing.isEmpty && reports.allSatisfy(\.passed)
    }

    /// The same measurements, checked against other bounds.
    ///
    /// - Parameter bounds: the bounds for the measurements of a runtime.
    public func judged(
        by bounds: (VerificationReport) -> VerificationBounds
    ) -> VerificationResults {
        VerificationResults(
            reports.map { $0.judged(by: bounds($0)) }, missing: missing, environment: environment)
    }

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
        self = try ResultsFile(bytes, path: path.filePath.string).results(ResultsCheck(path))
    }

    /// Writes the results as one JSON object, replacing an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    public func write(to path: some PathConvertible) throws {
        try AtomicFile.write(try ResultsFile(self).json(), to: path)
    }
}

/// The environment of a verification.
public struct VerificationEnvironment: Hashable, Sendable, Codable {
    /// The version of retint.
    public let retint: String
    /// The name of the processor.
    public let processor: String

    /// Creates a description of an environment.
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

    /// Encodes the measurements and the verdict: one runtime as its report, several as a list.
    public func encode(to encoder: any Encoder) throws {
        if reports.count == 1, missing.isEmpty { return try reports[0].encode(to: encoder) }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(passed, forKey: .passed)
        try container.encode(reports, forKey: .judges)
        try container.encode(missing, forKey: .missing)
    }
}
