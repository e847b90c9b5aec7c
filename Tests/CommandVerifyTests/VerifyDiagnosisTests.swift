import Foundation
import RetintCommandSupport
import RetintTestSupport
import Testing

/// What `retint verify` finds out about where errors come from.
@Suite(.sampled()) struct VerifyDiagnosisTests {
    private let bench: CommandBench
    private static let noise = ["--noise", "uniform:0..100"]
    private static let run = ["verify", "half.mlpackage", "--against", "model.h5"] + noise

    init() throws {
        bench = try CommandBench()
        try bench.makeHalfPackage()
    }

    private func report(_ code: Int32, _ arguments: [String]) throws -> [String: Any] {
        let result = try bench.run(arguments + ["--json"])
        #expect(result.code == code, "\(result.messages)")
        return try bench.json(result)
    }

    private func output(_ report: [String: Any]) throws -> [String: Any] {
        try #require((report["outputs"] as? [String: [String: Any]])?["ab"])
    }

    @Test func boundOfHalfPrecision() throws {
        let report = try report(0, Self.run + ["--bound", "half", "--save", "results.json"])
        let tolerance = try #require(report["tolerance"] as? [String: Any])
        #expect(tolerance["max_half_ratio"] as? Double == 2 && tolerance["min_psnr_db"] == nil)
        let own = try output(report)
        let ratio = try #require(own["half_ratio"] as? Double)
        #expect(ratio > 0.3 && ratio < 2)
        let half = try #require(own["half_precision"] as? [String: Any])
        let (snr, halfSNR) = (own["snr_db"] as? Double, half["snr_db"] as? Double)
        let expected = pow(10, ((halfSNR ?? 0) - (snr ?? 0)) / 20)
        #expect(abs(ratio / expected - 1) < 1e-9)
        for (factor, code) in [(ratio * 1.01, Int32(0)), (ratio * 0.99, 2)] {
            let bounds = ["--bound", "half", "--half-factor", "\(factor)"]
            let (judged, measured) = (
                try bench.run(["verify", "results.json"] + bounds), try bench.run(Self.run + bounds)
            )
            #expect(judged.code == code && judged.output == measured.output)
            #expect(judged.output.contains("model.h5 itself in half precision"))
        }
        try bench.expect(0, Self.run + ["--save", "fixed.json", "--bound", "fixed"])
        try bench.expect(
            64, "verify", "fixed.json", "--bound", "half", says: ["verify again with --bound half"])
    }

    /// The first stage outside the tolerance is the one that brings in the error.
    @Test func stagesShowWhereAnErrorBegins() throws {
        try bench.expect(
            0, "quantize", "half.mlpackage", "-o", "small.mlpackage", "--weights", "uint8")
        let names = ["trained", "folded", "lowered", "written"]
        for (model, bound, first) in [
            ("half.mlpackage", "30", nil), ("half.mlpackage", "500", "folded"),
            ("half.mlpackage", "110", "lowered"), ("small.mlpackage", "95", "written"),
        ] {
            let report = try report(
                first == nil ? 0 : 2,
                ["verify", model, "--against", "model.h5", "--min-psnr", bound]
                    + ["--stages", "written,lowered,folded,trained"] + Self.noise)
            #expect(report["first_failing_stage"] as? String == first)
            let stages = try #require(report["stages"] as? [[String: Any]])
            #expect(stages.compactMap { $0["stage"] as? String } == names)
            #expect(try output(stages[0])["max_abs_error"] as? Double == 0)
            let own = try output(report)["mean_abs_error"] as? Double
            #expect(try output(stages[3])["mean_abs_error"] as? Double == own)
        }
    }

    @Test func errorsOfWeightsAndArithmetic() throws {
        try bench.expect(
            0, "quantize", "half.mlpackage", "-o", "small.mlpackage", "--weights", "uint8")
        for (model, shares) in [("half.mlpackage", 0.001...0.999), ("small.mlpackage", 0.9...1)] {
            let report = try report(
                0, ["verify", model, "--against", "model.h5", "--error-sources"])
            let sources = try #require(report["error_sources"] as? [String: Any])
            let share = try #require((sources["weight_share"] as? [String: Double])?["ab"])
            #expect(shares.contains(share), "\(share)")
            func noise(_ outputs: [String: Any]?) throws -> Double {
                let output = try #require(outputs?["ab"] as? [String: Any])
                return pow(10, -(output["snr_db"] as? Double ?? .nan) / 10)
            }
            let (weights, arithmetic) = (
                try noise(sources["weights"] as? [String: Any]),
                try noise(sources["arithmetic"] as? [String: Any])
            )
            #expect(abs(share - weights / (weights + arithmetic)) < 1e-9)
            // Both are independent, so that their powers add up, about.
            let both = try noise(report["outputs"] as? [String: Any]) / (weights + arithmetic)
            #expect(both > 0.5 && both < 2, "\(both)")
            let tensors = try #require(sources["tensors"] as? [[String: Any]])
            #expect(tensors.count > 20 && tensors.allSatisfy { $0["count"] is Int })
        }
    }

    /// The package that is written meets the bound that the other one violates.
    @Test func operationsForFloat32AreFound() throws {
        let snr = try #require(try output(report(0, Self.run))["snr_db"] as? Double)
        let bound = ["--min-psnr", "1", "--min-snr", "\(snr + 2)"]
        let report = try report(
            0, Self.run + bound + ["--find-precision", "-o", "cured.mlpackage"])
        #expect(report["model"] as? String == "cured.mlpackage")
        let search = try #require(report["precision_search"] as? [String: Any])
        let kept = try #require(search["kept_in_float32"] as? [[String: String]])
        #expect(!kept.isEmpty && kept.count < search["operation_count"] as? Int ?? 0)
        #expect(search["runs"] as? Int ?? 0 > 10 && search["model"] as? String == Self.run[1])
        #expect(try bench.run(["verify", "half.mlpackage"] + Self.run[2...] + bound).code == 2)
        #expect(try bench.run(["verify", "cured.mlpackage"] + Self.run[2...] + bound).code == 0)
        let inspected = try bench.run(["inspect", "cured.mlpackage"])
        #expect(inspected.output.contains("mixed"))
    }

    @Test func whatCannotBeCuredIsNotWritten() throws {
        let report = try report(
            2, Self.run + ["--min-psnr", "500", "--find-precision", "-o", "cured.mlpackage"])
        let search = try #require(report["precision_search"] as? [String: Any])
        #expect(search["kept_in_float32"] == nil && report["model"] as? String == Self.run[1])
        #expect(!bench.files.contains("cured.mlpackage"))
    }

    /// The part that is written fails by itself, with the bound that the report names.
    @Test func aPartThatFailsIsWritten() throws {
        let bound = ["--min-psnr", "106"]
        let report = try report(2, Self.run + bound + ["--reduce", "part.mlpackage"])
        let reduction = try #require(report["reduction"] as? [String: Any])
        let operations = try #require(reduction["operations"] as? [[String: String]])
        #expect(operations.count < (reduction["operation_count"] as? Int ?? 0) / 2)
        let part = ["verify", "part.mlpackage", "--reference", "part.h5"]
        #expect(try bench.run(part + bound).code == 2)
        #expect(try bench.run(part + ["--min-psnr", "20"]).code == 0)
        let passing = try bench.run(Self.run + ["--reduce", "none.mlpackage"])
        #expect(passing.code == 0 && passing.messages.contains("nothing to reduce"))
        #expect(!bench.files.contains("none.mlpackage") && !bench.files.contains("none.h5"))
    }

    /// Everything is in all reports, and is kept in results.
    @Test func reportsShowAll() throws {
        let measured = try bench.run(
            Self.run + ["--min-psnr", "106", "--stages", "lowered", "--error-sources"]
                + ["--reduce", "part.mlpackage", "--save", "results.json", "--html", "a.html"]
                + ["--junit", "a.xml", "--sarif", "a.sarif"])
        #expect(measured.code == 2)
        let judged = try bench.run(["verify", "results.json"])
        #expect(judged.code == 2 && judged.output == measured.output)
        for words in [
            "smallest part that fails: ", "stages of the export, against model.h5",
            "first outside the tolerance: lowered", "of the noise comes from the weights",
            "weights with the lowest SNR",
        ] {
            #expect(measured.output.contains(words), "\(words)")
            let page = try String(contentsOfFile: bench.path("a.html"), encoding: .utf8)
            #expect(page.contains(words), "\(words)")
        }
        for file in ["a.xml", "a.sarif"] {
            let text = try String(contentsOfFile: bench.path(file), encoding: .utf8)
            for words in ["first failing stage", "smallest failing part", "share of weights"] {
                #expect(text.contains(words), "\(words) in \(file)")
            }
        }
        // Other bounds also apply to the stages.
        let loose = try bench.run(["verify", "results.json", "--min-psnr", "1"])
        #expect(loose.code == 0 && !loose.output.contains("first outside the tolerance: lowered"))
    }

    @Test(arguments: [
        ["--find-precision"], ["-o", "x.mlpackage"], ["--max-runs", "9"], ["--stages", "raised"],
        ["--find-precision", "-o", "x"], ["--reduce", "x.h5"], ["--half-factor", "2"],
        ["--bound", "half", "--half-factor", "-1"], ["--bound", "half", "--reduce", "x.mlpackage"],
        ["--find-precision", "-o", "x.mlpackage", "--compute", "float16"],
        ["--find-precision", "-o", "x.mlpackage", "--max-runs", "1"],
        ["--find-precision", "-o", "x.mlpackage", "--reduce", "y.mlpackage"],
        ["--reduce", "x.mlpackage", "--save", "x.h5"], ["--error-sources", "--compute", "mixed"],
    ])
    func wrongUsage(_ options: [String]) throws {
        try bench.expect(64, Self.run + options)
        #expect(bench.files.allSatisfy { !$0.hasPrefix("x") })
    }

    @Test(arguments: [
        ["--bound", "half"], ["--stages", "written"], ["--error-sources"],
        ["--find-precision", "-o", "x.mlpackage"],
    ])
    func whatNeedsTheOtherModel(_ options: [String]) throws {
        try bench.expect(
            64, ["verify", "half.mlpackage", "--reference", "a.h5"] + options,
            says: ["needs --against"])
    }

    /// What cannot be diagnosed is refused before files are written.
    @Test func whatHasNoDiagnosis() throws {
        let against = ["verify", "model.h5", "--against", "model.h5", "--size", "64"]
        for (options, words) in [
            (["--stages", "written"], "name a package"), (["--error-sources"], "name a package"),
            (["--find-precision", "-o", "x.mlpackage"], "in a float16 package"),
            (["--reduce", "x.mlpackage"], "a package can be reduced"),
        ] {
            try bench.expect(65, against + options, says: [words])
            #expect(bench.files.allSatisfy { !$0.hasPrefix("x") })
        }
    }
}
