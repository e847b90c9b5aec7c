import Files
import Foundation

/// What a verification has measured, to be kept and judged by other bounds without another run.
///
/// Every bound can be judged again: beside the figures, the file has the values that decide a bound
/// |c − e| ≤ atol + rtol·|e|, for all atol and rtol.
public struct VerificationResults: Sendable {
    /// The figures, and the bounds that they were judged by.
    public let report: VerificationReport
    /// What measured them.
    public let environment: VerificationEnvironment

    /// Joins figures with what measured them.
    public init(_ report: VerificationReport, environment: VerificationEnvironment) {
        self.report = report
        self.environment = environment
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
