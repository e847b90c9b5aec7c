import Foundation
import RetintCheckpoints
import RetintCommandSupport
import RetintONNXReading
import RetintTestSupport
import Testing

/// Networks from ONNX files: they are imported, trained, converted and verified like others.
@Suite(.sampled()) struct ImportNetworkTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    /// The arguments of a training in the folder `run`.
    private func training(_ settings: String...) throws -> [String] {
        let yaml = "{architecture: onnx, batch: 2, steps: 2, data: {train: photos, crop: 32}}"
        let file = try bench.write(Data(yaml.utf8), to: "run.yaml")
        return ["train", "--config", file, "--output", "run", "--set", "seed=2"] + settings
    }

    private func copy(_ name: String) throws -> String {
        let source = goldenPath("imported-\(name).onnx", of: "ArchitecturesTests")
        try FileManager.default.copyItem(atPath: source, toPath: bench.path("\(name).onnx"))
        return "\(name).onnx"
    }

    private func makePhotos(_ count: Int) throws {
        try bench.makeDirectory("photos")
        for index in 0..<count { _ = try bench.makePhoto("photos/\(index).png") }
    }

    @Test func networksAreImportedTrainedAndConverted() throws {
        let network = try copy("traced")
        let said = try bench.expect(0, "import", network, "-o", "start.h5")
        #expect(said.output == "start.h5: onnx, 14 tensors, 1,738 parameters\n")
        try bench.expect(0, "verify", network, "--against", "start.h5", "--size", "32")

        try makePhotos(3)
        try bench.expect(
            0,
            training("init=start.h5", "optimizer.learning_rate=0.01"))
        let trained = try Checkpoint(contentsOf: bench.path("run/last.h5"))
        let start = try Checkpoint(contentsOf: bench.path("start.h5"))
        #expect(trained.network == start.network)
        for name in ["stem.0.weight", "stem.1.running_mean", "head.0.bias"] {
            #expect(trained.state[name] != start.state[name], "\(name)")
        }
        for output in ["a.mlpackage", "b.onnx"] {
            try bench.expect(0, "export", "run/last.h5", "-o", output, "--size", "32")
            try bench.expect(0, "verify", output, "--against", "run/last.h5", "--size", "32")
        }
        try bench.expect(0, "import", "b.onnx", "-o", "again.h5")
        try bench.expect(0, "verify", "again.h5", "--against", "run/last.h5", "--size", "32")
        try bench.expect(
            65, "export", "a.mlpackage", "-o", "weights.h5",
            says: ["a package does not contain its definition", "the checkpoint"])
    }

    @Test func networksOfOneSizeRunAtIt() throws {
        let network = try copy("fixed")
        try makePhotos(1)
        try bench.expect(0, "colorize", network, "photos", "-o", "colored")
        try bench.expect(0, "export", network, "-o", "a.mlpackage")
        try bench.expect(0, "verify", "a.mlpackage", "--against", network)
        try bench.expect(
            64, "colorize", network, "photos", "-o", "colored", "--size", "64",
            says: ["does not run at 64 × 64, only at 48 × 40"])
        try bench.expect(
            64, "export", network, "-o", "b.mlpackage", "--size", "64",
            says: ["size 64×64: onnx takes only 48×40", "Choose 48×40."])
        #expect(!bench.files.contains("b.mlpackage"))
        try bench.expect(0, "benchmark", network, "--runs", "1")
        try bench.expect(0, "inspect", network)
    }

    @Test func inspectShowsTheFile() throws {
        let shown = try bench.expect(0, "inspect", copy("traced")).output
        for words in [
            "ONNX of opset 13, written by pytorch", "input lightness: float [n, 1, h, w]",
            "output ab: float [", "Conv ", "head.0.weight",
        ] {
            #expect(shown.contains(words), "\(shown)")
        }
        let object = try JSONSerialization.jsonObject(
            with: Data(bench.expect(0, "inspect", "traced.onnx", "--json").output.utf8))
        let report = try #require(object as? [String: Any])
        #expect(report["kind"] as? String == "onnx" && report["opset"] as? Int == 13)
        #expect(report["unsupported"] as? [String] == [])
    }

    /// A warning needs the operations, and a version in which the fault was measured.
    @Test(arguments: [
        ("2.13.0", true), ("1.0", false), ("", false), ("2.13.0\u{1b}[31m", false),
    ])
    func inspectWarnsAboutTheExporter(_ version: String, isAffected: Bool) throws {
        let value = { ONNXValueInfo(name: $0, type: .float, dimensions: [.fixed(2)]) }
        var model = ONNXModel(
            opset: 17, producer: "pytorch", inputs: [value("x")], outputs: [value("y")],
            nodes: [
                ONNXNode(name: "share", "Sigmoid", ["x"], ["share"]),
                ONNXNode(name: "log", "Log", ["share"], ["y"]),
            ], initializers: [:])
        model.producerVersion = version
        let file = try bench.write(Data(model.bytes()), to: "a.onnx")
        let shown = try bench.expect(0, "inspect", file).output
        let warning = "warning: torch.onnx 2.13.0 converts logsigmoid wrongly (log): "
        #expect(shown.contains(warning) == isAffected, "\(shown)")
    }

    @Test func optionsThatDoNotApplyAreRefused() throws {
        let network = try copy("traced")
        try bench.expect(
            64, "import", network, "--architecture", "eccv16", "-o", "a.h5",
            says: ["is a complete network; omit --architecture"])
        try bench.expect(
            64, "import", network, "--width", "0.5", "-o", "a.h5", says: ["has its own width"])
        try bench.expect(
            64, "import", network, "--key", "model", "-o", "a.h5", says: ["--non-strict and --key"])
        let weights = try bench.makeWeights()
        try bench.expect(
            64, "import", weights, "--architecture", "mobile-unet", "--normalization", "outside",
            "-o", "a.h5", says: ["is not an .onnx file, which --normalization requires"])
        try bench.expect(
            65, "import", network, "--outputs", "c", "-o", "a.h5",
            says: [network, "there is none named \"c\"", "Choose from \"ab\""])
        try makePhotos(3)
        try bench.expect(65, training(), says: ["start from its checkpoint"])
        _ = try bench.write(Data("no network".utf8), to: "a.onnx")
        try bench.expect(
            65, "import", "a.onnx", "-o", "a.h5", says: ["a.onnx", "not an ONNX model"])
        try bench.expect(65, "inspect", "a.onnx", says: ["a.onnx", "not an ONNX model"])
        #expect(!bench.files.contains("a.h5") && !bench.files.contains("run"))
    }
}
