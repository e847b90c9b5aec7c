import Foundation
import RetintCommandSupport
import RetintMLPackage
import RetintTensorFiles
import RetintTestSupport
import Testing

/// Packages of networks that are not colorizers, as coremltools writes them.
@Suite(.sampled()) struct AnyNetworkTests {
    private let bench: CommandBench

    init() throws {
        bench = try CommandBench()
        _ = try bench.makePhoto("a.png")
        _ = try bench.makePhoto("b.png", width: 50)
    }

    private static func network(_ name: String) -> String { goldenPath("networks/\(name)") }

    private let photo = network("photo.mlpackage")
    private let half = network("photo-float16.mlpackage")
    private let pair = network("pair.mlpackage")

    @discardableResult
    private func verify(
        _ code: Int32, _ arguments: String..., says fragments: [String] = [],
        location: SourceLocation = #_sourceLocation
    ) throws -> ProcessResult {
        guard code == 2 else {
            return try bench.expect(
                code, ["verify"] + arguments, says: fragments, location: location)
        }
        let result = try bench.run(["verify"] + arguments)
        #expect(result.code == 2, "\(result.messages)", sourceLocation: location)
        for fragment in fragments {
            #expect(result.output.contains(fragment), "\(result.output)", sourceLocation: location)
        }
        return result
    }

    /// The largest value of the first operation of a type.
    private func largest(_ operation: String, _ arguments: String...) throws -> Double {
        let result = try bench.expect(0, ["verify"] + arguments + ["--json"])
        let layers = try #require(try bench.json(result)["layers"] as? [[String: Any]])
        let first = layers.first { $0["operation"] as? String == operation }
        return try #require(first?["max_abs_value"] as? Double)
    }

    @Test(arguments: ["photo", "pair"]) func agreesWithPyTorch(_ name: String) throws {
        let result = try verify(
            0, Self.network("\(name).mlpackage"), "--reference", Self.network("\(name).h5"))
        #expect(result.output.contains("tolerance: max |error| / max |expected| ≤ 0.0001"))
        #expect(!result.output.contains("ΔE2000"))
    }

    /// An ONNX file of any network runs with its own inputs and outputs.
    @Test func onnxNetworksAreTakenAsTheyAre() throws {
        try bench.expect(0, ["export", pair, "-o", "pair.onnx"])
        try verify(0, "pair.onnx", "--reference", Self.network("pair.h5"), says: [])
        let result = try verify(0, pair, "--against", "pair.onnx")
        #expect(result.output.contains("result"))
        try verify(
            65, "pair.onnx", "--against", photo, says: ["takes an image", "--range"])
    }

    /// The nodes of a file that retint wrote have other names than those of its checkpoint, but the
    /// same values.
    @Test func anExportedFileIsPairedWithItsCheckpoint() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(0, "export", model, "--size", "64", "-o", "model.onnx")
        let result = try bench.expect(0, ["verify", "model.onnx", "--against", model, "--json"])
        let layers = try #require(try bench.json(result)["layers"] as? [[String: Any]])
        let paired = layers.count { $0["compared_with"] != nil }
        #expect(layers.count > 30 && 10 * paired > 7 * layers.count, "\(paired)")
    }

    /// A package with the interface of an imported network takes that network's ranges, and is
    /// not a colorizer of retint's kind, which would be nearly gray.
    @Test func anotherRangeIsNotLightness() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(0, "export", model, "--size", "64", "-o", "own.onnx")
        try bench.expect(
            0, "import", "own.onnx", "--input", "lightness", "--range", "0..1", "--colors", "ab",
            "--color-range=-1..1", "-o", "other.h5")
        try bench.expect(
            0, "export", "other.h5", "--interface", "original", "--size", "64", "-o",
            "other.mlpackage")
        try verify(0, "other.mlpackage", "--against", "other.h5", says: [])
        _ = try bench.makePhoto("a.png")
        let refused = try bench.run(["colorize", "other.mlpackage", "a.png", "-o", "colored.png"])
        #expect(refused.code == 65, "\(refused.messages)")
        #expect(!bench.files.contains("colored.png"))
    }

    /// Their outputs are below the bounds that fit colors.
    @Test func smallOutputsOfOtherWeightsFail() throws {
        let result = try verify(
            2, Self.network("small.mlpackage"), "--reference", Self.network("small-wrong.h5"))
        #expect(result.output.contains("scores") && result.output.contains("FAILED"))
    }

    @Test(arguments: [
        [], ["--seed", "3"], ["--photo", "a.png", "--photo", "b.png"],
        ["--noise", "image=integers:0..9"], ["--noise", "uniform:0..255"], ["--bound", "half"],
        ["--error-sources"],
    ])
    func twoPackagesAgree(_ options: [String]) throws {
        try bench.expect(0, ["verify", half, "--against", photo] + options)
    }

    /// The values of a photo in a tensor depend on the stated range.
    @Test func photosHaveTheStatedRange() throws {
        func largest(_ range: String) throws -> Double {
            try self.largest(
                "conv", pair, "--against", pair, "--photo", "a.png", "--range", range)
        }
        #expect(try largest("0..255") > 20 * largest("0..1"))
        #expect(try largest("-1..1") != largest("imagenet"))
    }

    /// The package multiplies levels by 1/127.5.
    @Test func noiseIsAsStated() throws {
        for noise in ["image=integers:51..51", "uniform:51..51", "normal:51,0"] {
            let scaled = try largest("mul", photo, "--against", photo, "--noise", noise)
            #expect(abs(scaled - 0.4) < 1e-6)
        }
        let levels = try largest("mul", photo, "--against", photo, "--seed", "9")
        #expect(levels == 2)
    }

    @Test func photosOfOneInputAreNotThoseOfTwo() throws {
        let twins = Self.network("twins.mlpackage")
        try verify(0, twins, "--against", twins)
        try verify(
            64, twins, "--against", twins, "--photo", "a.png", says: ["image and masks", "1 and 2"])
    }

    /// What has the channels of a colorizer may have colors of another size.
    @Test func colorsOfAnotherSizeAreNotCompared() throws {
        try bench.makeDirectory("photos")
        _ = try bench.makePhoto("photos/c.png")
        try bench.expect(
            65, "quantize", Self.network("coarse.mlpackage"), "--photos", "photos",
            says: ["resize the colors"])
    }

    @Test func inputsComeFromFiles() throws {
        let reference = Self.network("pair.h5")
        try verify(0, pair, "--against", pair, "--inputs", reference, says: [])
        try bench.makeDirectory("inputs")
        for (name, value) in [("a.npy", Float(7)), ("b.npy", 200)] {
            let floats = [Float](repeating: value, count: 3 * 32 * 32)
            try NumPyFile.write(
                StoredTensor(shape: [1, 3, 32, 32], floats: floats),
                to: bench.path("inputs/\(name)"))
        }
        let scaled = try largest("mul", photo, "--against", photo, "--inputs", "inputs/a.npy")
        #expect(abs(scaled - 7 / 127.5) < 1e-6)
        let result = try verify(
            0, half, "--against", photo, "--inputs", "inputs", "--json")
        let outputs = try #require(try bench.json(result)["outputs"] as? [String: [String: Any]])
        #expect(outputs["picture"]?["shape"] as? [Int] == [2, 3, 32, 32])
        try verify(
            65, pair, "--against", pair, "--inputs", "inputs/a.npy", says: ["image, style"])
        try verify(
            65, pair, "--against", pair, "--inputs", Self.network("photo.h5"), says: ["style"])
        try verify(
            64, pair, "--against", pair, "--inputs", reference, "--seed", "1", says: ["--inputs"])
    }

    @Test func wrongInputsAreRefused() throws {
        try verify(
            64, photo, "--against", photo, "--noise", "picture=normal:0,1",
            says: ["has no input picture", "image"])
        for text in ["image=normal", "uniform:1..0", "normal:0,-1", "integers:0..99999999"] {
            try verify(64, photo, "--against", photo, "--noise", text, says: ["--noise"])
        }
        try verify(
            64, photo, "--reference", Self.network("photo.h5"), "--range", "0..1",
            says: ["need --against"])
    }

    @Test func theDefaultBoundsOfColorsAreNotForThem() throws {
        try bench.expect(
            0, "quantize", photo, "--weights", "int8", "--threshold", "8", "-o", "q.mlpackage")
        let result = try verify(0, "q.mlpackage", "--against", photo)
        #expect(result.output.contains("tolerance: SNR ≥ 15 dB"))
        try verify(2, "q.mlpackage", "--against", photo, "--max-delta-e", "1")
    }

    @Test func savedResultsAreJudgedAgain() throws {
        try verify(0, half, "--against", photo, "--save", "results.json")
        try verify(0, "results.json", "--min-snr", "20")
        try verify(0, "results.json", "--max-relative", "0.01")
        try verify(2, "results.json", "--max-relative", "1e-7")
        try verify(2, "results.json", "--min-snr", "200")
    }

    /// The result of the last operation, an output in float16, stays in float32.
    @Test func operationsThatNeedFloat32AreFound() throws {
        try verify(
            0, half, "--against", photo, "--find-precision", "--output", "mixed.mlpackage",
            "--min-snr", "72.1")
        let mixed = try MLPackage(contentsOf: bench.path("mixed.mlpackage")).program
        let original = try MLPackage(contentsOf: half).program
        #expect(mixed.outputs == original.outputs)
        for output in mixed.outputs { #expect(mixed.types[output] == original.types[output]) }
        // Outputs in float16 are rounded, whatever computes them.
        try verify(
            2, half, "--against", photo, "--find-precision", "--min-snr", "75", "-o",
            "none.mlpackage",
            says: ["not even all 9 operations in float32 are enough"])
    }

    // MARK: Other commands

    @Test func calibratesAndCompares() throws {
        try bench.makeDirectory("photos")
        for name in ["c", "d", "e"] { _ = try bench.makePhoto("photos/\(name).png", width: 33) }
        let result = try bench.expect(
            0, "quantize", photo, "--weights", "int8", "--threshold", "8", "--calibrate",
            "photos", "--photos", "photos", "-o", "int8.mlpackage")
        #expect(result.output.contains("outputs: SNR"))
        let table = try bench.expect(0, "quantize", photo, "--photos", "photos", "--threshold", "8")
        #expect(table.output.contains("SNR dB") && !table.output.contains("ΔE2000"))
    }

    /// Without colors, the bound is one of the SNR.
    @Test func searchesWithinAnSNR() throws {
        try bench.makeDirectory("photos")
        _ = try bench.makePhoto("photos/c.png")
        let options = ["--search", "--calibrate", "photos", "-o", "s.mlpackage"]
        try bench.expect(
            64, ["quantize", photo] + options + ["--max-delta-e", "1", "--min-snr", "20"])
        try bench.expect(
            65, ["quantize", photo] + options + ["--max-delta-e", "1"], says: ["--min-snr"])
        let model = try bench.makeCheckpoint()
        try bench.expect(0, "export", model, "-o", "m.mlpackage", "--size", "64")
        let result = try bench.expect(
            0, ["quantize", "m.mlpackage"] + options + ["--min-snr", "30", "--json"])
        let ratio = try #require(try bench.json(result)["snr_db"] as? Double)
        #expect(ratio >= 30)
    }

    /// A search for the fastest package, within a bound to the outputs of a file.
    @Test func searchesByLatencyAndTargets() throws {
        let reference = Self.network("photo.h5")
        let search = ["--search", "--threshold", "8", "--min-snr", "25", "-o", "s.mlpackage"]
        let first = try bench.expect(
            0, ["quantize", photo, "--reference", reference, "--json"] + search)
        let found = try bench.json(first)
        #expect(try #require(found["snr_db"] as? Double) >= 25 && found["latency"] == nil)
        let measured = try #require(found["sensitivities"] as? [[String: Any]])
        let weights = Set(measured.compactMap { $0["weight"] as? String }).sorted()
        var lines = ["operation,weights,milliseconds"]
        for weight in weights { lines += ["\(weight),float,2", "\(weight),int8,1.5"] }
        _ = try bench.write(Data(lines.joined(separator: "\n").utf8), to: "times.csv")
        let result = try bench.expect(
            0, ["quantize", photo, "--reference", reference, "--latency", "times.csv"] + search)
        #expect(result.output.contains("by the table: \(2 * weights.count).000 ms → "))
        #expect(result.output.contains("faster"))
        _ = try bench.write(Data("operation,weights\n".utf8), to: "wrong.csv")
        try bench.expect(
            65, ["quantize", photo, "--reference", reference, "--latency", "wrong.csv"] + search,
            says: ["wrong.csv", "line 1"])
        for wrong in [["--latency", "times.csv"], ["--reference", reference]] {
            try bench.expect(
                64, ["quantize", photo, "--weights", "int8", "-o", "x.mlpackage"] + wrong,
                says: [wrong[0], "--search"])
        }
    }

    @Test(arguments: ["photo", "pair"]) func speedIsMeasured(_ name: String) throws {
        let result = try bench.expect(
            0, "benchmark", Self.network("\(name).mlpackage"), "--runs", "2", "--json")
        let report = try bench.json(result)
        let inputs = try #require(report["inputs"] as? [String: [Int]])
        #expect(inputs["image"] == [1, 3, 32, 32])
        #expect(inputs.count == (name == "pair" ? 2 : 1))
    }
}
