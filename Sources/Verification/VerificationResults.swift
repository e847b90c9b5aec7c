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
