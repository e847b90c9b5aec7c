import Foundation
import RetintCommandSupport
import RetintTestSupport
import Testing

/// Results that `retint verify` saves and checks again.
@Suite(.sampled()) struct VerifyResultsTests {
    private let bench: CommandBench
    private static let run = ["verify", "half.mlpackage", "--against", "model.h5"]

    /// A checkpoint, its package in float16, and the results of one against the other.
    init() throws {
        bench = try CommandBench()
        try bench.makeHalfPackage()
        try bench.expect(0, Self.run + ["--save", "results.json"])
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: bench.path(name), encoding: .utf8)
    }

    /// Judging prints what a run with the same options prints.
    @Test(arguments: [
        [], ["--json"], ["--layers"], ["--atol", "0"], ["--atol", "9", "--rtol", "0.1"],
        ["--rtol", "1e-6"], ["--max-mean", "0"], ["--min-psnr", "500"], ["--min-snr", "500"],
        ["--max-delta-e", "0"], ["--layer-tolerance", "0"], ["--layer-min-snr", "500"],
        ["--layer-min-snr", "1", "--json"],
    ])
    func judgingIsLikeRunning(_ bounds: [String]) throws {
        let measured = try bench.run(Self.run + bounds)
        let judged = try bench.run(["verify", "results.json"] + bounds)
        #expect(judged.output == measured.output && judged.code == measured.code)
        #expect(judged.messages.contains("checking results.json, which retint "))
        let passes = bounds.count == 4 || ["--json", "--layers", nil].contains(bounds.first)
        #expect(judged.code == (passes || bounds.count == 3 ? 0 : 2), "\(judged.output)")
    }

    /// Neither the model nor what it was compared with is needed, and the bounds are kept.
    @Test func nothingRuns() throws {
        #expect(try bench.run(Self.run + ["--min-psnr", "500", "--save", "strict"]).code == 2)
        for name in ["half.mlpackage", "model.h5"] {
            try FileManager.default.removeItem(atPath: bench.path(name))
        }
        #expect(try bench.run(["verify", "results.json"]).code == 0)
        let strict = try bench.run(["verify", "strict"])
        #expect(strict.code == 2 && strict.output.contains("PSNR ≥ 500 dB"))
        #expect(try bench.run(["verify", "strict", "--min-psnr", "1"]).code == 0)
    }

    @Test(arguments: [
        ["--reference", "a.h5"], ["--against", "model.h5"], ["--photo", "a.png"],
        ["--size", "64"], ["--compute", "float32"], ["--memory-limit", "100"],
        ["--html", "a.html"], ["--save", "b.json"],
    ])
    func whatNeedsARunIsRefused(_ options: [String]) throws {
        try bench.expect(
            64, ["verify", "results.json"] + options,
            says: [options[0], "results.json has saved results"])
        #expect(!bench.files.contains(options[1]) || options[1] == "model.h5")
    }

    @Test(arguments: [
        (#""version" : \d+"#, #""version" : 9"#, "version: is 9, but this retint reads 2"),
        (#",\s*"version" : \d+"#, "", "version: is missing"),
        (#""format" : "[^"]+""#, #""format" : "x""#, "format: must be \"retint verification\""),
        (
            #""atol" : [^,\n]+|"min_psnr_db" : 60"#, #""atol" : -1"#,
            "tolerance.atol: must not be neg"
        ),
        (#""max_abs" : "#, #""max_abs" : -"#, "layers[0].error.max_abs: must not be negative"),
        (#""mean_abs" : [^,]+"#, #""mean_abs" : "x""#, "mean_abs: must"),
        (#""mean_abs" : [^,]+"#, #""mean_abs" : 1e999"#, "cannot be read as JSON"),
        (#""peak" : \d+"#, #""peak" : 0"#, "outputs[0].peak: must be above 0"),
        (#""inputs" : \[\s*\]"#, #""inputs" : [0]"#, "layers[0].inputs: must be indices of layers"),
        (#""largest" : "#, #""largest" : -"#, "layers[0].range.largest: must be finite"),
        (#""shape" : \[\s*\d+"#, #""shape" : [0"#, "layers[0].shape: must have at most 8"),
        (#""error" : (?=\d)"#, #""error" : 9"#, "outputs[0].deciding_errors: must"),
        (
            #""layers_decide" : false"#, #""layers_decide" : 0"#,
            "layers_decide: must be true or false"
        ),
        (#""compute" : "\w+""#, #""compute" : "int8""#, "compute: must have one of the values"),
        (#"(?s)\}\s*\],\s*"precision".*"#, "", "cannot be read as JSON"),
        (#"(?s)^.*$"#, "", "cannot be read as JSON"), (#"(?s)^.*$"#, "[1]", "must be an object"),
    ])
    func badResultsAreRefused(_ pattern: String, _ new: String, _ message: String) throws {
        let text = try text("results.json")
        let range = try #require(text.range(of: pattern, options: .regularExpression), "\(pattern)")
        let bad = text.replacingCharacters(in: range, with: new)
        let name = try bench.write(Data(bad.utf8), to: "bad.json")
        let result = try bench.expect(
            65, "verify", name, "--junit", "bad.xml", says: ["bad.json: ", message])
        #expect(result.output.isEmpty && !bench.files.contains("bad.xml"))
    }

    @Test func otherJSONIsRefused() throws {
        let report = try bench.run(Self.run + ["--json"])
        let name = try bench.write(Data(report.output.utf8), to: "report")
        try bench.expect(65, "verify", name, says: ["report: format: is missing", "--save"])
        try bench.expect(65, "verify", "none.json", says: ["none.json: cannot read"])
    }

    @Test func outputsReplaceNoInput() throws {
        let before = try text("results.json")
        try bench.expect(
            64, "verify", "results.json", "--sarif", "results.json", says: ["the input itself"])
        // An extension is that of its kind, so that no other file is replaced.
        for (option, name) in [
            ("--html", "photo.jpg"), ("--junit", "results.json"), ("--sarif", "script.py"),
            ("--save", "page.html"),
        ] {
            try bench.expect(
                64, "verify", "results.json", option, name, says: ["the name must end in ."])
        }
        for option in ["--save", "--junit", "--sarif"] {
            try bench.expect(64, Self.run + [option, "model.h5"], says: ["model.h5"])
            try bench.expect(64, Self.run + [option, "half.mlpackage/x"], says: ["half.mlpackage"])
        }
        try bench.expect(
            64, Self.run + ["--junit", "a", "--sarif", "a"], says: ["must be different files"])
        #expect(try text("results.json") == before && !bench.files.contains("a"))
    }
}
