import Foundation
import RetintTestSupport
import Testing

@testable import RetintVerification

/// A report is coded as it is; the file of saved results is one of them.
@Suite struct SavedResultsTests {
    /// Reading and writing gives the same bytes as the retint that saved them.
    @Test(arguments: ["results", "reduced"])
    func savedResultsAreWrittenAgainAsTheyWere(_ name: String) throws {
        let golden = goldenPath("verify/\(name).json", of: "CommandVerifyTests")
        let scratch = try TemporaryFolder()
        try VerificationResults(contentsOf: golden).write(to: scratch.path("again.json"))
        let again = try String(contentsOfFile: scratch.path("again.json"), encoding: .utf8)
        #expect(try again == String(contentsOfFile: golden, encoding: .utf8))
    }

    /// With any encoder, the judgement is the same afterwards.
    @Test func aReportIsItsOwnCoding() throws {
        let golden = goldenPath("verify/results.json", of: "CommandVerifyTests")
        let report = try VerificationResults(contentsOf: golden).reports[0]
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let decoded = try decoder.decode(
            VerificationReport.self, from: encoder.encode(report))
        #expect(!decoded.passed && decoded.checks == report.checks)
        #expect(decoded.outputs == report.outputs && decoded.photos == report.photos)
        #expect(decoded.layers.map(\.error) == report.layers.map(\.error))
        let stages = (decoded.diagnosis.stages, report.diagnosis.stages)
        #expect(stages.0.map(\.isWithin) == stages.1.map(\.isWithin) && !stages.0.isEmpty)
    }
}
