import Foundation
import Retint
import RetintCheckpoints
import RetintCommandSupport
import RetintExport
import RetintImages
import RetintTestSupport
import Testing

/// Packages wherever a model is read.
@Suite(.sampled()) struct PackageTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    private func makePackage(_ name: String, _ options: ExportOptions) throws -> String {
        let checkpoint = try Checkpoint(contentsOf: bench.path(bench.makeCheckpoint()))
        let source = ExportSource(
            checkpoint.network, colorizer: try checkpoint.network.make(),
            variables: checkpoint.variables)
        _ = try source.export(to: bench.path(name), options: options)
        return name
    }

    static let options: [ExportOptions] = [
        ExportOptions(size: 64), ExportOptions(output: .split, size: 64),
        ExportOptions(input: .image, output: .split, size: 64),
        ExportOptions(precision: .float16, size: 64),
    ]

    /// The package colors as the checkpoint that it was made of, to a level or two.
    @Test(arguments: options)
    func colorsAsTheCheckpoint(_ options: ExportOptions) throws {
        let package = try makePackage("model.mlpackage", options)
        let photo = try bench.makePhoto("a.png")
        try bench.expect(0, "colorize", package, photo, "-o", "package")
        try bench.expect(0, "colorize", "model.h5", photo, "-o", "checkpoint", "--size", "64")
        let pictures = try ["package", "checkpoint"].map {
            try Image(contentsOf: bench.path("\($0)/a.png")).pixels
        }
        let differences = zip(pictures[0], pictures[1]).map { abs(Int($0) - Int($1)) }
        #expect(try #require(differences.max()) <= 2)
    }

    /// A key of the user's own named like a field of Core ML: the field counts unless it is empty.
    @Test(arguments: [("", "the user's"), ("the model's", "the model's")])
    func showsTheAuthor(field: String, shown: String) throws {
        let path = bench.path(try makePackage("model.mlpackage", ExportOptions(size: 64)))
        var package = try MLPackage(contentsOf: path)
        package.metadata.author = field
        package.metadata.userDefined["author"] = "the user's"
        try package.write(to: path)
        guard case .package(let inspection) = try Inspection(of: path) else {
            Issue.record("\(path) is not seen as a package")
            return
        }
        #expect(inspection.metadata["author"] == shown)
    }

    @Test func saysWhenThePackageCannotBeWritten() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(
            1, "export", model, "-o", "/proc/x.mlpackage", "--size", "64",
            says: ["/proc/x.mlpackage: cannot write: No such file or directory; check the path"])
    }

    @Test func refusesASizeThatTheNetworkDoesNotTake() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(
            64, "export", model, "-o", "x.mlpackage", "--size", "100",
            says: ["height 100", "multiples of 32", "Choose for example 96"])
        #expect(!FileManager.default.fileExists(atPath: bench.path("x.mlpackage")))
    }

    @Test func runsAtItsOwnSizeAlone() throws {
        let package = try makePackage("model.mlpackage", ExportOptions(size: 64))
        let photo = try bench.makePhoto("a.png")
        try bench.expect(
            64, "colorize", package, photo, "-o", "out", "--size", "96",
            says: ["[1, 1, 96, 96]", "[1, 1, 64, 64]"])
        let result = try bench.expect(0, "benchmark", package, "--runs", "1")
        #expect(result.output.contains("batch 1, 64 × 64"))
        try bench.expect(
            64, "benchmark", package, "--mode", "training", says: ["cannot be trained"])
    }

    @Test func makesWeightsSmallerAndProvesIt() throws {
        let package = try makePackage("model.mlpackage", ExportOptions(target: .iOS18, size: 64))
        let result = try bench.expect(
            0, "quantize", package, "-o", "small.mlpackage", "--weights", "int8", "--json")
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let compressed = try #require(report["compressed"] as? [[String: Any]])
        #expect(compressed.count > 20 && compressed.allSatisfy { $0["snr_db"] is Double })
        try bench.expect(0, "verify", "small.mlpackage", "--against", "model.h5")
        let lines = try bench.expect(
            0, "quantize", package, "-o", "palette.mlpackage", "--weights", "palette4")
        #expect(lines.output.contains("SNR dB") && lines.output.contains("palette4 per-tensor"))
        let verdict = try bench.run(
            ["verify", "palette.mlpackage", "--against", "model.h5", "--min-psnr", "500"])
        #expect(verdict.code == 2)
    }

    @Test func quantizesActivations() throws {
        let package = try makePackage("model.mlpackage", ExportOptions(target: .iOS17, size: 64))
        try bench.makeDirectory("photos")
        _ = try bench.makePhoto("photos/1.png")
        let both = ["--weights", "int8", "--activations", "int8", "--calibrate", "photos"]
        let result = try bench.expect(
            0, ["quantize", package, "-o", "w8a8.mlpackage", "--repair"] + both)
        for words in ["activation", "int8 symmetric mse", "the same bits", "weights "] {
            #expect(result.output.contains(words), "\(words)")
        }
        let found = try bench.expect(
            0,
            ["quantize", package, "-o", "some.mlpackage", "--search", "--max-delta-e", "0.5"]
                + both + ["--json"])
        #expect(found.output.contains("\"proof\"") && found.output.contains("\"effect\""))
        try bench.expect(0, "export", "w8a8.mlpackage", "-o", "w8a8.onnx")
        try bench.expect(
            0, "verify", "w8a8.mlpackage", "--against", "w8a8.onnx", "--min-snr", "60")
        try bench.expect(
            64, "quantize", package, "-o", "x.mlpackage", "--activations", "int8",
            says: ["--calibrate"])
        try bench.expect(
            64, "quantize", package, "-o", "x.mlpackage", "--repair", says: ["--calibrate"])
        try bench.expect(
            64,
            ["quantize", package, "-o", "x.mlpackage", "--activation-range", "all"] + both,
            says: ["all"])
    }

    /// A search knows its own photos alone.
    @Test func searchesAreMeasuredOnOtherPhotos() throws {
        let package = try makePackage("model.mlpackage", ExportOptions(target: .iOS16, size: 64))
        try bench.makeDirectory("photos")
        try Image(width: 64, height: 64, red: 90, green: 90, blue: 90)
            .write(to: bench.path("photos/1.png"))
        for name in ["2", "3"] { _ = try bench.makePhoto("photos/\(name).png") }
        let search = [
            "quantize", package, "-o", "s.mlpackage", "--search", "--calibrate", "photos",
        ]
        let wide = try bench.expect(0, search + ["--limit", "1", "--max-delta-e", "50"])
        #expect(wide.output.contains("on 1 input that the search did not see: colors: PSNR "))
        #expect(!wide.messages.contains("does not hold"))
        let narrow = try bench.expect(0, search + ["--limit", "1", "--max-delta-e", "0.02"])
        let line = "on 1 other input, mean ΔE2000 ≤ 0.02 does not hold: search on more (--limit)"
        #expect(narrow.messages.contains(line), "\(narrow.output) \(narrow.messages)")
        let all = try bench.expect(0, search + ["--max-delta-e", "50"])
        #expect(!all.output.contains("did not see"))
        // A photo that was not needed ends nothing.
        _ = try bench.write(Data("no photo".utf8), to: "photos/2.png")
        let broken = try bench.expect(0, search + ["--limit", "1", "--max-delta-e", "50"])
        #expect(broken.messages.contains("no other inputs were measured: "))
        #expect(broken.messages.contains("2.png"), "\(broken.messages)")
        _ = try bench.makePhoto("photos/2.png")
        let shown = try bench.json(bench.expect(0, search + ["--limit", "1", "--json"]))
        #expect((shown["held_out"] as? [String: Any])?["count"] as? Int == 1)
    }

    /// What `export` writes by default can be quantized: the deployment target is raised.
    @Test func raisesTheDeploymentTarget() throws {
        let package = try makePackage("model.mlpackage", ExportOptions(size: 64))
        let arguments = ["quantize", package, "-o", "small.mlpackage", "--weights", "int8"]
        let line = "raised the deployment target from iOS15 to iOS16: int8 weights need it"
        #expect(try bench.run(arguments).output.contains(line))
        let run = try bench.run(arguments + ["--json"])
        #expect(run.output.contains("\"raised_target\""))
    }

    @Test func quantizingOnPhotosLimitsMemory() throws {
        let package = try makePackage(
            "model.mlpackage", ExportOptions(target: .iOS18, size: 256))
        try bench.makeDirectory("photos")
        _ = try bench.makePhoto("photos/1.png")
        let int8 = ["--weights", "int8", "-o", "small.mlpackage"]
        for arguments in [
            int8 + ["--calibrate", "photos"], int8 + ["--photos", "photos"],
            ["--photos", "photos"], ["--search", "--calibrate", "photos", "-o", "s.mlpackage"],
        ] {
            try bench.expect(
                65, ["quantize", package] + arguments + ["--memory-limit", "1"],
                says: ["of the limit of 1 MiB are left"])
        }
    }

    /// Options that would have no effect are refused.
    @Test(arguments: [
        ("--weights palette4 --mode linear", "--mode needs --weights of integers"),
        ("--sparsity 0.5 --mode linear", "--mode needs --weights of integers"),
        ("--weights int8 --palette-mode uniform", "--palette-mode needs --weights of a palette"),
        ("--weights float16 --granularity per-channel", "--granularity needs --weights"),
        ("--weights int4 --block-size 16", "--block-size needs --granularity per-block"),
        ("--weights int4 --granularity per-channel --block-size 16", "--block-size needs"),
        ("--weights float16 --block-size 16", "--block-size needs --granularity per-block"),
        ("--config plan.yaml --mode linear", "--mode needs --weights of integers"),
        ("--weights int8 --sparsity-block 4", "--sparsity-block needs --sparsity"),
        ("--sparsity-ratio 2:4 --sparsity-block 4", "--sparsity-block needs --sparsity"),
        ("--weights int8 --sparsity-axis input", "--sparsity-axis needs --sparsity-block"),
    ])
    func refusesOptionsOfOtherWeights(options: String, words: String) throws {
        let arguments = options.split(separator: " ").map(String.init)
        try bench.expect(
            64, ["quantize", "any.mlpackage", "-o", "x.mlpackage"] + arguments, says: [words])
    }

    @Test func refusesEqualSizes() throws {
        try bench.expect(
            64, "export", "model.h5", "-o", "x.mlpackage", "--sizes", "128x64,64,128x64",
            says: ["--sizes names 128x64 twice"])
    }

    @Test func refusesWhatThePackageCannotUnpack() throws {
        let package = try makePackage("model.mlpackage", ExportOptions(target: .iOS16, size: 64))
        try bench.expect(
            64, "quantize", package, "-o", "x.mlpackage", "--weights", "int4",
            says: ["int4 per-channel", "iOS16 cannot decompress", "--target iOS18"])
        try bench.expect(
            64, "quantize", package, "-o", "x.mlpackage", "--weights", "int5", says: ["int5"])
        try bench.expect(
            64, "quantize", "model.h5", "-o", "x.mlpackage", "--weights", "int8",
            says: ["is not a package", "retint export"])
        try bench.expect(
            65, "quantize", "nothing.mlpackage", "-o", "x.mlpackage", "--weights", "int8")
        #expect(!FileManager.default.fileExists(atPath: bench.path("x.mlpackage")))
    }
}
