import Retint

/// A verification by several judges, one after the other.
struct JudgedRun {
    private(set) var reports: [VerificationReport] = []
    private(set) var missing: [MissingJudge] = []
    /// Why the first judge did not run.
    private(set) var firstError: (any Error)?

    /// Runs a judge of several. One that fails does not keep the others from running.
    ///
    /// - Throws: errors that are none of a judge, such as a full disk.
    mutating func add(
        _ judge: Judge, _ report: () async throws -> VerificationReport
    ) async throws {
        do {
            reports.append(try await report())
        } catch  where ExitStatus(for: error) == .badInput {
            missing.append(MissingJudge(judge, reason: message(for: error)))
            firstError = firstError ?? error
        }
    }
}
