import Foundation
import RetintTestSupport
import Testing

@testable import RetintVerification

/// What counts as a difference between saved results and another run.
@Suite struct ReplayReportTests {
    private static let golden = goldenPath("verify/results.json", of: "CommandVerifyTests")

    /// Results of a run that differ in a text of the file.
    private func results(_ pattern: String = "", _ new: String = "") throws -> VerificationResults {
        var text = try String(contentsOfFile: Self.golden, encoding: .utf8)
        if !pattern.isEmpty {
            let range = try #require(text.range(of: pattern, options: .regularExpression))
            text.replaceSubrange(range, with: new)
        }
        let scratch = try TemporaryFolder()
        try text.write(toFile: scratch.path("r.json"), atomically: true, encoding: .utf8)
        return try VerificationResults(contentsOf: scratch.path("r.json"))
    }

    @Test func equalResultsAreTheSame() throws {
        let report = try ReplayReport(saved: results(), found: results())
        #expect(report.isSame && report.isSameEnvironment && report.differences.isEmpty)
    }

    /// In the same environment, a figure whose last bit differs is a difference.
    @Test func aFigureDiffers() throws {
        let found = try results(#""psnr" : 89.7197210943749"#, #""psnr" : 89.7197210943751"#)
        let report = try ReplayReport(saved: results(), found: found)
        #expect(!report.isSame && report.savedPassed == report.replayedPassed)
        let difference = try #require(report.differences.first)
        #expect(difference.place == "judges[0].error_sources.arithmetic[0].metrics.psnr")
        #expect(difference.saved == "89.7197210943749" && difference.found == "89.7197210943751")
        #expect(report.differences.count == 1)
    }

    /// Elsewhere, figures may differ, but the verdict may not.
    @Test func elsewhereTheVerdictCounts() throws {
        let other = #""processor" : "x""#
        let elsewhere = try results(#""processor" : "[^"]*""#, other)
        let figures = try ReplayReport(
            saved: results(#""psnr" : 89.7197210943749"#, #""psnr" : 89"#), found: elsewhere)
        #expect(!figures.isSameEnvironment && figures.isSame && figures.differences.count == 1)
        let passing = elsewhere.judged { _ in
            VerificationBounds(
                tolerance: Tolerance(atol: 1e9), layerTolerance: LayerTolerance(),
                layersDecide: false)
        }
        #expect(passing.passed)
        let verdict = try ReplayReport(saved: results(), found: passing)
        #expect(!verdict.isSame && verdict.replayedPassed == true && !verdict.savedPassed)
    }

    /// Files may have other names.
    @Test func namesAreNoFigures() throws {
        let moved = try results(#""model" : "[^"]*""#, #""model" : "elsewhere/a.mlpackage""#)
        #expect(try ReplayReport(saved: results(), found: moved).isSame)
        #expect(moved.reports[0].model == "elsewhere/a.mlpackage")
    }
}
