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
        let report = ArchitectureSearchReport(
            size: 64, rungs: [4], candidates: [row("a", 1, 2)],
            diverged: [.init(candidate: "b", problem: "step 1: the loss is not finite")])
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        let json = String(decoding: try encoder.encode(report), as: UTF8.self)
        #expect(
            json == """
                {"candidates":[{"bytes":2,"candidate":"a","checkpoint":"a.h5","colorfulness":1,\
                "delta_e2000":2,"is_finalist":true,"loss":1,"median_seconds":1,\
                "multiply_adds":1,"parameters":1,"psnr_db":1,"steps":4}],\
                "diverged":[{"candidate":"b","problem":"step 1: the loss is not finite"}],\
                "rungs":[4],"size":64}
                """)
    }

    @Test func nothingBeatsTheParetoFront() {
        let rows = [row("a", 1, 5), row("b", 2, 3), row("c", 3, 4), row("d", 4, 1), row("e", 4, 2)]
        let report = ArchitectureSearchReport(
            size: 64, rungs: [4], candidates: rows, diverged: [])
        #expect(report.paretoFront(\.medianSeconds).map(\.candidate) == ["a", "b", "d"])
    }

    /// A candidate that was dropped early is not compared with those that trained on.
    @Test func theParetoFrontHasEqualBudgets() {
        let rows = [row("a", 1, 5, steps: 2), row("b", 2, 3), row("c", 3, 4), row("d", 4, 1)]
        let report = ArchitectureSearchReport(
            size: 64, rungs: [2, 4], candidates: rows, diverged: [])
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

    /// Candidates with learning rates, the highest of which cannot be trained with.
    private func candidates(_ scratch: TemporaryFolder, rates: [String]) throws
        -> [SearchCandidate]
    {
        try rates.map { rate in
            SearchCandidate(
                name: rate,
                configuration: try scratch.configuration(
                    "steps=50", "anomaly=true", "loss.kind=mse", "optimizer.kind=sgd",
                    "schedule.kind=constant", "optimizer.learning_rate=\(rate)",
                    "data.validation=\(scratch.path)/photos"))
        }
    }

    @Test func othersGoOnWithoutOneThatDiverges() async throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let report = try await ArchitectureSearchReport(
            searching: candidates(scratch, rates: ["1e6", "1e-5", "1e-4"]),
            output: "\(scratch.path)/search", rounds: 1, imageSize: 32)
        #expect(Set(report.candidates.map(\.candidate)) == ["1e-5", "1e-4"])
        #expect(report.candidates.allSatisfy { $0.steps == 50 && $0.isFinalist })
        let divergence = try #require(report.diverged.first)
        #expect(report.diverged.count == 1 && divergence.candidate == "1e6")
        #expect(divergence.problem.hasPrefix("step ") && !divergence.problem.contains("resume"))
        let (header, rows) = report.table
        #expect(rows.last?.prefix(3) == ["1e6", "diverged", "–"])
        #expect(rows.count == 3 && rows.allSatisfy { $0.count == header.count })
    }

    @Test func allThatDivergeAreAnError() async throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let candidates = try candidates(scratch, rates: ["5e5", "1e6"])
        let error = await #expect(throws: TrainingError.self) {
            try await ArchitectureSearchReport(
                searching: candidates, output: "\(scratch.path)/search", rounds: 1, imageSize: 32)
        }
        #expect(error?.kind == .notFinite)
        #expect(error?.description.contains("all candidates diverges, of 5e5 at step ") == true)
    }

    @Test func candidatesInOneFolderAreRefused() throws {
        let configurations = try ["seed=1", "seed=2"].map { setting in
            var configuration = TrainingConfiguration()
            try configuration.set(setting)
            return configuration
        }
        let pair = zip(["a/b", "a b"], configurations).map {
            SearchCandidate(name: $0, configuration: $1)
        }
        let error = #expect(throws: TrainingError.self) { try pair.requireDifferent() }
        #expect(error?.kind == .setting)
        #expect(error?.description.contains("a/b and a b would share the folder a_b") == true)
    }
}
