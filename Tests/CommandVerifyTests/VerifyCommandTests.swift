import Foundation
import RetintCheckpoints
import RetintCommandSupport
import RetintEngine
import RetintExport
import RetintGraph
import RetintTensorFiles
import RetintTensors
import RetintTestSupport
import Testing

/// `retint verify` and `retint inspect` as a user runs them.
@Suite(.sampled()) struct VerifyCommandTests {
    private let files: VerifyFiles

    init() throws { files = try VerifyFiles() }

    @Test func checkpointAgainstReference() throws {
        let run = try retint("verify", files.checkpoint, "--reference", files.reference)
        #expect(run.code == 0)
        #expect(run.output.contains("not Apple's Core ML runtime"))
        #expect(run.output.hasSuffix("passed\n"))
    }

    @Test func packageAsJSON() throws {
        let run = try retint("verify", files.package, "--reference", files.reference, "--json")
        #expect(run.code == 0)
        let report = try run.object()
        #expect(report["passed"] as? Bool == true && report["compute"] as? String == "float32")
        #expect((report["runtime"] as? String)?.contains("retint") == true)
        let output = try #require((report["outputs"] as? [String: [String: Any]])?["output"])
        for key in ["max_abs_error", "mean_abs_error", "max_relative_error", "cosine"] {
            #expect(output[key] is Double, "\(key)")
        }
        // Equal numbers have no PSNR.
        #expect(output["psnr_db"] != nil && output["snr_db"] != nil)
        #expect(report["delta_e2000_mean"] is Double && report["delta_e2000_p99"] is Double)
        let tolerance = try #require(report["tolerance"] as? [String: Any])
        #expect(tolerance["atol"] as? Double == 0.01)
        #expect(tolerance["max_mean_abs_error"] as? Double == 0.001)
    }

    @Test func packageAgainstItsCheckpoint() throws {
        let run = try retint("verify", files.package, "--against", files.checkpoint)
        #expect(run.code == 0 && run.output.contains("0.0001"))
        let tight = try retint(
            "verify", files.package, "--against", files.checkpoint, "--compute", "float16",
            "--min-psnr", "500", "--json")
        #expect(tight.code == 2)
        #expect(try tight.object()["passed"] as? Bool == false)
    }

    /// Lightness that becomes a pixel is rounded; both sides have to see what is left of it.
    @Test func pictureInputsAreComparedOnWhatTheyTake() throws {
        let bench = try CommandBench()
        let model = try bench.makeCheckpoint()
        try bench.expect(
            0, "export", model, "-o", "picture.mlpackage", "--input", "image", "--size", "64")
        let run = try bench.expect(
            0, "verify", "picture.mlpackage", "--against", model, "--json")
        let layers = try bench.json(run)["layers"] as? [[String: Any]]
        let centered = try #require(layers?.first { $0["operation"] as? String == "sub" })
        #expect(centered["max_abs_error"] as? Double == 0)
    }

    @Test func aTamperedWeightIsFound() throws {
        let weights = files.package + "/Data/com.apple.CoreML/weights/weight.bin"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: weights))
        // The last tensor that is stored ends the file; its largest byte is a sign and exponent.
        for place in stride(from: bytes.count / 2 / 4 * 4 + 3, to: bytes.count - 64, by: 256) {
            bytes[place] ^= 0x80
        }
        try bytes.write(to: URL(fileURLWithPath: weights))
        let run = try retint("verify", files.package, "--reference", files.reference)
        #expect(run.code == 2 || run.code == 65)
        #expect(run.code != 2 || run.output.hasSuffix("FAILED\n"))
    }

    @Test func anotherNetworkFails() throws {
        let other = files.path("other.h5")
        try Checkpoint(.named("mobile-unet", .init(width: 0.25)), seed: 9)
            .write(to: other)
        let run = try retint("verify", other, "--reference", files.reference)
        #expect(run.code == 2 && run.output.contains("farther off"))
        let loose = try retint("verify", other, "--reference", files.reference, "--atol", "1000")
        #expect(loose.code == 0)
    }

    @Test func badInputIsRefused() throws {
        let flat = TensorData(shape: [1, 2, 32, 128], scalars: files.ab.scalars)
        let empty: [(String, TensorData)] = [("inputs/L", files.lightness)]
        for (tensors, text) in [
            (empty + [("outputs/output", flat)], "[1, 2, 32, 128]"),
            (empty, "outputs/<name>"),
            ([("weights", files.ab)], "inputs/<name>"),
        ] {
            let path = try files.write(tensors, to: "bad.h5")
            let run = try retint("verify", files.checkpoint, "--reference", path)
            #expect(run.code == 65 && run.output.isEmpty)
            #expect(run.messages.contains(text))
        }
        let missing = try retint("verify", files.checkpoint, "--reference", files.path("none.h5"))
        #expect(missing.code == 65 && missing.messages.contains("none.h5"))
        let noModel = try retint("verify", files.path("none"), "--reference", files.reference)
        #expect(noModel.code == 65 && noModel.messages.contains("none"))
    }

    @Test(arguments: [
        [], ["--reference", "a.h5", "--against", "b.h5"], ["--reference", "a.h5", "--atol", "nan"],
        ["--reference", "a.h5", "--rtol", "-1"], ["--reference", "a.h5", "--compute", "int8"],
        ["--reference", "a.h5", "--seed", "1"], ["--against", "a.h5", "--size", "0"],
    ])
    func wrongUsage(_ arguments: [String]) throws {
        #expect(try retint(["verify", files.checkpoint] + arguments).code == 64)
    }

    @Test func inspectsCheckpoints() throws {
        let object = try retint("inspect", files.checkpoint, "--json").object()
        #expect(object["architecture"] as? String == "mobile-unet")
        #expect((object["options"] as? [String: String]) == ["width": "0.25"])
        #expect((object["parameters"] as? Int ?? 0) > 1000)
        #expect((object["multiply_adds_256x256"] as? Int ?? 0) > 1_000_000)
        let text = try retint("inspect", files.checkpoint)
        #expect(text.code == 0 && text.output.contains("G multiply-adds at 256 × 256"))
    }

    @Test func inspectsPackages() throws {
        let object = try retint("inspect", files.package, "--json").object()
        #expect(object["target"] as? String == "iOS15")
        #expect(object["specification_version"] as? Int == 6)
        let operations = try #require(object["operations"] as? [String: Int])
        #expect((operations["conv"] ?? 0) > 3 && operations["const"] == nil)
        let weights = try #require(object["weights"] as? [String: [String: Int]])
        #expect((weights["fp32"]?["elements"] ?? 0) > 1000)
        #expect((object["disk_bytes"] as? Int ?? 0) > (weights["fp32"]?["bytes"] ?? .max))
        #expect(try retint("inspect", files.package).output.contains("input input: multiArray"))
    }

    @Test func inspectsTensorFiles() throws {
        let run = try retint("inspect", files.reference)
        #expect(run.code == 0 && run.output.contains("inputs/L"))
        let object = try retint("inspect", files.reference, "--json").object()
        #expect(object["total_elements"] as? Int == 3 * 64 * 64)
        #expect(object["total_bytes"] as? Int == 12 * 64 * 64)
        #expect(try retint("inspect", files.path("none.h5")).code == 65)
    }
}

/// A network, its package and what it gives, in files that go away with the test.
private final class VerifyFiles {
    let lightness: TensorData
    let ab: TensorData
    private let scratch: TemporaryFolder

    var checkpoint: String { path("network.h5") }
    var package: String { path("network.mlpackage") }
    var reference: String { path("reference.h5") }

    init() throws {
        scratch = try TemporaryFolder()
        let network = try Checkpoint(.named("mobile-unet", .init(width: 0.25)), seed: 3)
        let scalars = (0..<64 * 64).map { Float($0 * 7919 % 1000) / 10 }
        lightness = TensorData(shape: [1, 1, 64, 64], scalars: scalars)
        let source = ExportSource(
            network.network, colorizer: try network.network.make(),
            variables: network.variables)
        let graph = Graph(mode: .inference)
        ab = try source.colorizer(graph.input("L", lightness.shape))
            .evaluate(inputs: ["L": lightness], variables: network.variables)
        try network.write(to: checkpoint)
        _ = try source.export(to: package, options: ExportOptions(size: 64))
        _ = try write([("inputs/L", lightness), ("outputs/output", ab)], to: "reference.h5")
    }

    func path(_ name: String) -> String { scratch.path(name) }

    func write(_ tensors: [(String, TensorData)], to name: String) throws -> String {
        let writer = try HDF5Writer(path: path(name))
        for (place, data) in tensors { try writer.write(StoredTensor(data), to: place) }
        try writer.finish()
        return path(name)
    }
}

private func retint(_ arguments: String...) throws -> ProcessResult { try retint(arguments) }

private func retint(_ arguments: [String]) throws -> ProcessResult {
    try runProcess(builtProgram("retint"), arguments)
}

extension ProcessResult {
    /// Standard output as a JSON object.
    fileprivate func object() throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(output.utf8))
        return try #require(object as? [String: Any])
    }
}
