import Foundation
import RetintCommandSupport
import RetintTestSupport
import Testing

/// `retint search`: its candidates, and what it refuses before it trains any.
@Suite(.sampled()) struct SearchCommandTests {
    private let bench: CommandBench

    init() throws {
        bench = try CommandBench()
        try bench.makeDirectory("photos")
        for number in 0..<4 { _ = try bench.makePhoto("photos/\(number).png") }
        let yaml = """
            width: 0.25
            batch: 2
            anomaly: true
            loss: {kind: mse}
            optimizer: {kind: sgd, learning_rate: 0.0001}
            schedule: {kind: constant}
            data: {train: photos, validation: photos, crop: 32}
            """
        _ = try bench.write(Data(yaml.utf8), to: "base.yaml")
    }

    /// The arguments of a short search.
    private func arguments(_ candidates: [String], steps: Int = 1, size: Int = 32) -> [String] {
        [
            "search", "--config", "base.yaml", "-o", "search", "--steps", "\(steps)", "--rounds",
            "1", "--size", "\(size)",
        ] + candidates
    }

    @Test func eachOptionIsACandidate() throws {
        let candidates = [
            "--candidate", "width=0.5", "--candidate", "optimizer.learning_rate=0.01",
            "--candidate=width=0.75", "seed=3", "--json",
        ]
        let report = try bench.json(bench.expect(0, arguments(candidates)))
        let rows = try #require(report["candidates"] as? [[String: Any]])
        #expect(
            Set(rows.compactMap { $0["candidate"] as? String }) == [
                "width=0.5", "optimizer.learning_rate=0.01", "width=0.75 seed=3",
            ])
    }

    /// Without a run in the output folder.
    @Test(arguments: [
        (["--candidate", "widht=0.5", "--candidate", "width=1"], 32, "did you mean width, "),
        (["--candidate", "width=1", "seed=3"], 32, "two candidates or more"),
        (["--candidate", "--candidate", "width=1"], 32, "Missing value"),
        (
            ["--candidate", "seed=3", "--candidate", "seed=3"], 32,
            "the candidates seed=3 and seed=3 have the same settings"
        ),
        (
            ["--candidate", "width=0.5", "--candidate", "width=0.50"], 32,
            "the candidates width=0.5 and width=0.50 have the same settings"
        ),
        (
            ["--candidate", "width=0.5", "--candidate", "width=1"], 33,
            "width=0.5: the network does not run at 33 × 33"
        ),
    ])
    func refusalsComeFirst(candidates: [String], size: Int, words: String) throws {
        let result = try bench.run(arguments(candidates, size: size))
        #expect(result.code == 64 && result.messages.contains(words), "\(result.messages)")
        #expect(!bench.files.contains { $0.hasSuffix("config.yaml") })
    }

    @Test func oneThatDivergesIsTheLast() throws {
        let candidates = [
            "--candidate", "optimizer.learning_rate=1e6", "--candidate", "seed=3",
        ]
        let result = try bench.expect(
            0, arguments(candidates, steps: 50),
            says: ["optimizer.learning_rate=1e6 diverged: step "])
        let rows = result.output.split(separator: "\n")
        #expect(rows.dropLast().contains { $0.hasPrefix("seed=3") }, "\(result.output)")
        #expect(rows.last?.contains("diverged") == true, "\(result.output)")
    }

    @Test func earlierSearchesAreLeftAlone() throws {
        let search = arguments(["--candidate", "width=0.5", "--candidate", "seed=3"])
        try bench.expect(0, search)
        try bench.expect(
            64, search, says: ["search/width=0.5: has a run of an earlier search", "(--output)"])
    }
}
