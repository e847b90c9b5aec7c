import Foundation
import RetintTestSupport
import Testing

@testable import RetintTraining

/// Architecture search by successive halving.
@Suite(.serialized) struct SearchTests {
    private func candidates(_ scratch: TemporaryFolder, _ widths: [String]) throws
        -> [SearchCandidate]
    {
        try widths.map { width in
            SearchCandidate(
                settings: ["architecture=mobile-unet", "width=\(width)"],
                configuration: try scratch.configuration(
                    "width=\(width)", "steps=4", "data.validation=\(scratch.path)/photos"))
        }
    }

    @Test func theBetterHalfTrainsOn() async throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let output = "\(scratch.path)/search"
        let report = try await ArchitectureSearchReport(
            searching: candidates(scratch, ["0.25", "0.5", "0.75"]), output: output, rounds: 2,
            imageSize: 64)
        #expect(report.rungs == [2, 4] && report.size == 64)
        #expect(report.candidates.map(\.steps) == [4, 4, 2])
        #expect(report.candidates.map(\.isFinalist) == [true, true, false])
        for candidate in report.candidates {
            let folder = "\(output)/\(candidate.candidate.replacingOccurrences(of: " ", with: "_"))"
            #expect(candidate.candidate.hasPrefix("mobile-unet width=0."))
            #expect(candidate.checkpoint == "\(folder)/best.h5")
            #expect(FileManager.default.fileExists(atPath: candidate.checkpoint))
            #expect(candidate.medianSeconds > 0 && candidate.bytes == 2 * candidate.parameters)
        }
        try report.writePage(to: "\(output)/report.html")
        let page = try String(contentsOfFile: "\(output)/report.html", encoding: .utf8)
        for part in ["mobile-unet width=0.25", "Pareto front", "KiB in float16", "<svg"] {
            #expect(page.contains(part), "\(part)")
        }
    }

    @Test func reportsKeepTheirKeys() throws {
        let report = ArchitectureSearchReport(size: 64, rungs: [4], candidates: [row("a", 1, 2)])
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        let json = String(decoding: try encoder.encode(report), as: UTF8.self)
        #expect(
            json == """
                {"candidates":[{"bytes":2,"candidate":"a","checkpoint":"a.h5","colorfulness":1,\
                "delta_e2000":2,"is_finalist":true,"loss":1,"median_seconds":1,\
                "multiply_adds":1,"parameters":1,"psnr_db":1,"steps":4}],"rungs":[4],"size":64}
                """)
    }

    @Test func nothingBeatsTheParetoFront() {
        let rows = [row("a", 1, 5), row("b", 2, 3), row("c", 3, 4), row("d", 4, 1), row("e", 4, 2)]
        let report = ArchitectureSearchReport(size: 64, rungs: [4], candidates: rows)
        #expect(report.paretoFront(\.medianSeconds).map(\.candidate) == ["a", "b", "d"])
    }

    /// A candidate that was dropped early is not compared with those that trained on.
    @Test func theParetoFrontHasEqualBudgets() {
        let rows = [row("a", 1, 5, steps: 2), row("b", 2, 3), row("c", 3, 4), row("d", 4, 1)]
        let report = ArchitectureSearchReport(size: 64, rungs: [2, 4], candidates: rows)
        #expect(report.paretoFront(\.medianSeconds).map(\.candidate) == ["b", "d"])
    }

    private func row(
        _ name: String, _ seconds: Double, _ difference: Double, steps: Int = 4
    ) -> ArchitectureSearchReport.Candidate {
        ArchitectureSearchReport.Candidate(
            candidate: name, checkpoint: "\(name).h5", steps: steps, isFinalist: true,
            parameters: 1,
            multiplyAdds: 1, bytes: 2, medianSeconds: seconds, loss: 1, deltaE2000: difference,
            colorfulness: 1, psnrDb: 1)
    }

    @Test func cancelledSearchesReturnWhatTheyHave() async throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let candidates = try candidates(scratch, ["0.25", "0.5"])
        let output = "\(scratch.path)/search"
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await ArchitectureSearchReport(
                searching: candidates, output: output, imageSize: 64)
        }
        #expect(try await task.value.candidates.isEmpty)
    }
}
