import Retint

/// A verification in several runtimes, one after the other.
struct JudgedRun {
    private(set) var reports: [VerificationReport] = []
    private(set) var missing: [VerificationResults.MissingJudge] = []
    /// Why the first runtime did not run.
    private(set) var firstError: (any Error)?

    /// Runs one of several runtimes. If one fails, the others still run.
    ///
    /// - Throws: errors that do not come from a runtime, such as a full disk.
    mutating func add(
        _ judge: Judge, _ report: () async throws -> VerificationReport
    ) async throws {
        do {
            reports.append(try await report())
        } catch  where ExitStatus(for: error) == .badInput {
            missing.append(VerificationResults.MissingJudge(judge, reason: message(for: error)))
            firstError = firstError ?? error
        }
    }
}
