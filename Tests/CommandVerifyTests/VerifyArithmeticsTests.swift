import Foundation
import RetintCommandSupport
import RetintTestSupport
import Testing

/// `retint verify --arithmetics`.
@Suite(.sampled()) struct VerifyArithmeticsTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    private let half = goldenPath("networks/photo-float16.mlpackage")
    private let single = goldenPath("networks/photo.mlpackage")

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: bench.path(name), encoding: .utf8)
    }

    private func survey(_ arguments: String...) throws -> [String: Any] {
        let result = try bench.expect(0, ["verify"] + arguments + ["--json"])
        return try #require(try bench.json(result)["arithmetics"] as? [String: Any])
    }

    @Test func theReportNamesShareAndWorst() throws {
        let result = try bench.expect(
            0, ["verify", half, "--against", single, "--arithmetics", "4", "--seed", "3"])
        for text in [
            "within the tolerance in 4 of 4 arithmetics drawn from seed 3",
            "100.0 %, 95 % interval 39.8 % … 100.0 %: a share of the arithmetics tried, not a "
                + "census of devices", "worst (SNR ", "significant digits of the outputs",
        ] {
            #expect(result.output.contains(text), "\(result.output)")
        }
    }

    /// The arithmetic that a report names gives the same values again.
    @Test func anArithmeticIsReproduced() throws {
        let drawn = try survey(half, "--arithmetics", "5", "--seed", "7")
        #expect(drawn["count"] as? Int == 5 && drawn["seed"] as? Int == 7)
        #expect((drawn["interval95"] as? [Double])?.count == 2)
        #expect((drawn["trials"] as? [Any])?.count == 5)
        let worst = try #require(drawn["worst"] as? [String: Any])
        let name = try #require(worst["arithmetic"] as? String)
        let again = try survey(half, "--arithmetics", name, "--seed", "7")
        #expect(again["seed"] == nil && again["count"] as? Int == 1)
        let same = try #require(again["worst"] as? [String: Any])
        #expect(same["snr_db"] as? Double == worst["snr_db"] as? Double)
        let layers = try #require(drawn["layers"] as? [[String: Any]])
        #expect(layers.allSatisfy { $0["digits_against_float64"] is Double })
    }

    /// A float32 model has no arithmetics of float16.
    @Test func formatsAreThoseOfTheModel() throws {
        for (model, hasHalf) in [(single, false), (half, true)] {
            let trials = try #require(
                try survey(model, "--arithmetics", "12")["trials"] as? [[String: Any]])
            let names = trials.compactMap { $0["arithmetic"] as? String }
            #expect(names.count == 12)
            #expect(names.contains { $0.contains("float16") } == hasHalf)
        }
    }

    @Test func referencesGiveTheInputs() throws {
        let found = try survey(
            single, "--reference", goldenPath("networks/photo.h5"), "--arithmetics", "3",
            "--seed", "5")
        #expect(found["seed"] as? Int == 5 && found["passed"] as? Int == 3)
    }

    @Test func resultsAreSavedAndShown() throws {
        try bench.expect(
            0,
            [
                "verify", half, "--against", single, "--arithmetics", "2", "--save", "r.json",
                "--html", "r.html", "--junit", "r.xml",
            ])
        let again = try bench.expect(0, ["verify", "r.json"])
        #expect(again.output.contains("2 of 2 arithmetics drawn from seed 0"))
        let page = try text("r.html")
        #expect(page.contains("census of devices") && page.contains("against float64"))
        let report = try text("r.xml")
        #expect(report.contains("arithmetics that pass") && report.contains("2 of 2"))
    }

    @Test(arguments: [
        ("\"digits\" : ", "\"digits\" : -"), ("\"non_finite\" : 0", "\"non_finite\" : 9"),
        ("results=float", "results=double"),
    ])
    func damagedResultsAreRefused(_ text: String, _ other: String) throws {
        try bench.expect(
            0, ["verify", half, "--arithmetics", "2", "--save", "r.json"])
        let saved = try self.text("r.json")
        #expect(saved.contains(text))
        try saved.replacingOccurrences(of: text, with: other).write(
            toFile: bench.path("r.json"), atomically: true, encoding: .utf8)
        try bench.expect(65, ["verify", "r.json"], says: ["arithmetics"])
    }

    @Test(arguments: ["0", "-3", "100000000", "results=float64", "seed=1 seed=2", "x"])
    func whatIsNoNumberIsRefused(_ argument: String) throws {
        try bench.expect(
            64, ["verify", half, "--against", single, "--arithmetics=\(argument)"],
            says: ["--arithmetics"])
    }

    @Test func whatNeedsAnotherModelIsRefused() throws {
        try bench.expect(
            64, ["verify", half, "--judge", "apple", "--against", single, "--arithmetics", "2"],
            says: ["--arithmetics needs --judge retint or both"])
        try bench.expect(
            64,
            [
                "verify", single, "--reference", goldenPath("networks/photo.h5"), "--seed", "5",
            ], says: ["--seed"])
    }
}
