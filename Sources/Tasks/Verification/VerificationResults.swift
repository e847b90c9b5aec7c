public import RetintEngine
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
    public let missing: [VerificationResults.MissingJudge]
    /// The environment of the measurement.
    public let environment: VerificationResults.Environment
    /// What the verification was run on, and how to run it again; nil if that was not recorded.
    public var record: VerificationRecord?
    /// The SHA-256 digest of the figures, as the file of saved results states it.
    var savedFigures: FigureDigest?

    /// Combines measurements with their environment.
    ///
    /// - Parameters:
    ///   - reports: the measurements of each runtime.
    ///   - missing: the requested runtimes that did not run.
    ///   - environment: the environment of the measurement.
    public init(
        _ reports: [VerificationReport], missing: [VerificationResults.MissingJudge] = [],
        environment: VerificationResults.Environment
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
        var results = VerificationResults(
            reports.map { $0.judged(by: bounds($0)) }, missing: missing, environment: environment)
        results.record = record
        return results
    }
}

extension VerificationResults {
    /// The environment of a verification: in the same one, a run has the same bits.
    public struct Environment: Hashable, Sendable, Codable {
        /// The version of retint.
        public let retint: String
        /// The name of the processor.
        public let processor: String
        /// The kernels that the engine runs on the processor; nil if they were not recorded.
        public let kernels: String?
        /// The number of threads; nil if it was not recorded.
        public let threads: Int?

        /// Creates a description of an environment.
        public init(
            retint: String, processor: String, kernels: String? = nil, threads: Int? = nil
        ) {
            (self.retint, self.processor) = (retint, processor)
            (self.kernels, self.threads) = (kernels, threads)
        }

        /// That of a run in this process.
        ///
        /// - Parameters:
        ///   - processor: the name of the processor.
        ///   - execution: how the model runs.
        public init(processor: String, _ execution: Execution) {
            self.init(
                retint: retintVersion, processor: processor,
                kernels: "\(Machine.matrixKernels), OpenBLAS core \(Machine.blasCore), vectors of "
                    + "\(Machine.vectorFloats) floats", threads: execution.threadCount)
        }
    }
}
