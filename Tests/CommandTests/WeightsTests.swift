import Foundation
import RetintArchitectures
import RetintCheckpoints
import RetintCommandSupport
import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

/// Weights in both formats, and the way back from checkpoints and packages to PyTorch.
@Suite(.sampled()) struct WeightsTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    /// Networks that are small enough to try everything with.
    struct Network: CustomTestStringConvertible, Sendable {
        let description: NetworkDescription
        var architecture: String { description.architecture }
        var testDescription: String { architecture }
        /// As `import` takes them.
        var flags: [String] {
            let width = description.options.width
            return ["--architecture", architecture]
                + (width == 1 ? [] : ["--width", "\(width)"])
                + (description.options.hasClassHead ? [] : ["--no-class-head"])
        }
    }

    static let eccv16 = Network(description: .named("eccv16", .init(width: 0.0625)))
    static let siggraph17 = Network(
        description: .named("siggraph17", .init(width: 0.0625, hasClassHead: false)))
    static let mobile = Network(description: .named("mobile-unet"))

    /// A checkpoint whose statistics and biases are not all alike.
    private func makeCheckpoint(
        _ network: Network, _ name: String = "model.h5"
    ) throws -> Checkpoint {
        var checkpoint = try Checkpoint(network.description, seed: 3)
        for (place, (name, tensor)) in checkpoint.state.map({ ($0, $1) }).enumerated() {
            guard var floats = tensor.floats, tensor.shape.rank == 1 else { continue }
            for index in floats.indices {
                floats[index] = 0.7 + 0.3 * sin(Float(index + 7 * place))
            }
            checkpoint.state[name] = StoredTensor(shape: tensor.shape, floats: floats)
        }
        try checkpoint.write(to: bench.path(name))
        return checkpoint
    }

    private func export(_ arguments: String..., to package: String = "model.mlpackage") throws {
        let result = try bench.run(
            ["export", "model.h5", "-o", package, "--size", "64"] + arguments)
        #expect(result.code == 0, "\(result.messages)")
    }

    /// Bits, names and shapes; the order is the format's.
    private func expectEqual(_ state: StateDict, _ other: StateDict) {
        #expect(Set(state.names) == Set(other.names))
        for (name, tensor) in other {
            #expect(state[name]?.shape == tensor.shape, "\(name)")
            #expect(state[name]?.storedType == tensor.storedType, "\(name)")
            #expect(state[name]?.integers == tensor.integers, "\(name)")
            #expect(
                state[name]?.floats?.map(\.bitPattern) == tensor.floats?.map(\.bitPattern),
                "\(name)")
        }
    }

    @Test(arguments: [eccv16, siggraph17, mobile])
    func goesThroughEitherFormat(_ network: Network) throws {
        let checkpoint = try makeCheckpoint(network)
        for file in ["weights.h5", "weights.safetensors"] {
            let result = try bench.expect(0, "export", "model.h5", "-o", file)
            #expect(result.output.contains("\(file): \(network.architecture)"))
            expectEqual(try StateDict(contentsOf: bench.path(file)), checkpoint.state)
            let arguments = ["import", file] + network.flags + ["-o", "again.h5"]
            let imported = try bench.run(arguments)
            #expect(imported.code == 0, "\(imported.messages)")
            #expect(try Checkpoint(contentsOf: bench.path("again.h5")) == checkpoint)
            #expect(
                FileManager.default.contentsEqual(
                    atPath: bench.path("again.h5"), andPath: bench.path("model.h5")))
        }
    }

    @Test(arguments: [eccv16, siggraph17, mobile], ["weights.h5", "weights.safetensors"])
    func comesBackFromAPackage(_ network: Network, _ file: String) throws {
        let checkpoint = try makeCheckpoint(network)
        try export("--no-fold")
        let result = try bench.expect(0, "export", "model.mlpackage", "-o", file)
        #expect(result.output.contains("bit-equal to the checkpoint"))
        #expect(result.output.contains("num_batches_tracked is 0"))
        expectEqual(try StateDict(contentsOf: bench.path(file)), checkpoint.state)
    }

    /// Equal small constants stand in a package once; fresh statistics are all zeros and ones.
    @Test func comesBackWhereWeightsAreAlike() throws {
        let checkpoint = try Checkpoint(Self.eccv16.description, seed: 1)
        try checkpoint.write(to: bench.path("model.h5"))
        try export("--input", "image", "--output-form", "split", "--target", "iOS17")
        let result = try bench.expect(0, "export", "model.mlpackage", "-o", "back.safetensors")
        #expect(result.output.contains("bit-equal"))
        expectEqual(try StateDict(contentsOf: bench.path("back.safetensors")), checkpoint.state)
    }

    @Test func refusesFoldedWeightsUnlessAskedFor() throws {
        _ = try makeCheckpoint(Self.mobile)
        try export()
        let before = bench.files
        try bench.expect(
            65, "export", "model.mlpackage", "-o", "back.h5",
            says: [
                "model.mlpackage", "folded into their weights", "--allow-folded",
                "stem.0.weight with stem.1.weight, stem.1.bias, stem.1.running_mean",
            ])
        #expect(bench.files == before)
        try bench.expect(
            0, "export", "model.mlpackage", "-o", "back.safetensors", "--allow-folded",
            says: ["batch normalizations are identities"])
        try bench.expect(
            0, "import", "back.safetensors", "--architecture", "mobile-unet", "-o", "back.h5")
        try bench.expect(0, "verify", "model.mlpackage", "--against", "back.h5")
        // The convolutions have other weights than the original ones, and compute other values.
        try bench.expect(0, "verify", "back.h5", "--against", "model.h5")
    }

    /// PyTorch loads state dicts without them, too.
    @Test(arguments: ["", "model."]) func countersMayBeMissing(prefix: String) throws {
        let checkpoint = try makeCheckpoint(Self.mobile)
        var state = StateDict()
        for (name, tensor) in checkpoint.state where tensor.integers == nil {
            state[prefix + name] = tensor
        }
        #expect(state.names.count < checkpoint.state.names.count)
        try state.write(to: bench.path("old.safetensors"))
        try bench.expect(
            0, "import", "old.safetensors", "--architecture", "mobile-unet", "-o", "back.h5")
        #expect(try Checkpoint(contentsOf: bench.path("back.h5")) == checkpoint)
        // Without the option, the network is found by its tensors.
        try bench.expect(0, "import", "old.safetensors", "-o", "found.h5")
    }

    @Test func unpacksHalfPrecision() throws {
        let checkpoint = try makeCheckpoint(Self.eccv16)
        try export("--precision", "float16", "--target", "iOS16")
        let result = try bench.expect(0, "export", "model.mlpackage", "-o", "back.h5")
        #expect(result.output.contains("unpacked to float32 from fp16"))
        #expect(!result.output.contains("bit-equal"))
        let state = try StateDict(contentsOf: bench.path("back.h5"))
        for name in ["model1.0.weight", "model_out.weight"] {
            let due = checkpoint.state[name]?.floats?.map { Float(Float16($0)) }
            #expect(state[name]?.floats == due)
        }
        try expectToComputeTheSame("back.h5", Self.eccv16)
    }

    @Test(arguments: ["int8", "palette4"])
    func unpacksCompressedWeights(_ weights: String) throws {
        let checkpoint = try makeCheckpoint(Self.siggraph17)
        try export("--target", "iOS18", to: "whole.mlpackage")
        try bench.expect(
            0, "quantize", "whole.mlpackage", "-o", "model.mlpackage", "--weights", weights)
        let result = try bench.expect(0, "export", "model.mlpackage", "-o", "back.h5")
        #expect(result.output.contains("unpacked to float32 from constexpr_"))
        let state = try StateDict(contentsOf: bench.path("back.h5"))
        #expect(state["model1.0.bias"] == checkpoint.state["model1.0.bias"])
        #expect(state["model4.0.weight"] != checkpoint.state["model4.0.weight"])
        try expectToComputeTheSame("back.h5", Self.siggraph17)
    }

    /// The package and a network with the weights out of it agree.
    private func expectToComputeTheSame(_ weights: String, _ network: Network) throws {
        let result = try bench.run(["import", weights] + network.flags + ["-o", "again.h5"])
        #expect(result.code == 0, "\(result.messages)")
        try bench.expect(0, "verify", "model.mlpackage", "--against", "again.h5")
    }

    /// The class head is not part of a package.
    @Test func saysWhatThePackageDoesNotHold() throws {
        let network = Network(description: .named("siggraph17", .init(width: 0.0625)))
        var state = try makeCheckpoint(network).state
        try export()
        try bench.expect(
            0, "export", "model.mlpackage", "-o", "back.h5",
            says: ["does not contain model_class.0.weight, model_class.0.bias", "strict=False"])
        for name in ["weight", "bias"] { state["model_class.0.\(name)"] = nil }
        expectEqual(try StateDict(contentsOf: bench.path("back.h5")), state)
        try bench.expect(
            0, "import", "back.h5", "--architecture", "siggraph17", "--width", "0.0625",
            "--no-class-head", "-o", "again.h5")
    }

    @Test func otherPackagesGiveTheirConstants() throws {
        let cases = [("float32-iOS15", false), ("float16-iOS15", true), ("int8-iOS16", true)]
        for (name, isUnpacked) in cases {
            let package = goldenPath("\(name).mlpackage", of: "MLPackageTests")
            let result = try bench.expect(0, "export", package, "-o", "\(name).safetensors")
            #expect(result.output.contains("names are those of the package"))
            #expect(result.output.contains("unpacked to float32") == isUnpacked)
            let state = try StateDict(contentsOf: bench.path("\(name).safetensors"))
            #expect(!state.isEmpty && state.allSatisfy { $0.tensor.storedType == .float32 })
        }
    }

    @Test func inspectsSafetensors() throws {
        _ = try bench.makeWeights("weights.safetensors")
        let result = try bench.expect(0, "inspect", "weights.safetensors")
        for words in [
            "weights.safetensors: safetensors, 246 tensors", "\"format\": \"pt\"",
            "stem.1.num_batches_tracked", "int64",
        ] {
            #expect(result.output.contains(words), "\(result.output)")
        }
        let json = try bench.json(bench.expect(0, "inspect", "weights.safetensors", "--json"))
        #expect(json["kind"] as? String == "safetensors")
        #expect(json["metadata"] as? [String: String] == ["format": "pt"])
        #expect((json["tensors"] as? [[String: Any]])?.count == 246)
    }

    @Test func refusesDamagedSafetensors() throws {
        let weights = try bench.makeWeights("weights.safetensors")
        let whole = try Data(contentsOf: URL(fileURLWithPath: bench.path(weights)))
        let cut = try bench.write(whole.dropLast(), to: "cut.safetensors")
        let long = try bench.write(whole + [0], to: "long.safetensors")
        let text = try bench.write(Data("weights".utf8), to: "text.safetensors")
        let before = bench.files
        for (file, words) in [
            (cut, "truncated"), (long, "follow the header"), (text, "truncated within"),
        ] {
            try bench.expect(
                65, "import", file, "--architecture", "mobile-unet", "-o", "model.h5",
                says: [file, words])
            try bench.expect(65, "inspect", file, says: [file, words])
        }
        try bench.expect(
            65, "colorize", weights, "photo.png", "-o", "out",
            says: ["safetensors file, but an HDF5 file is needed", "retint import"])
        #expect(bench.files == before)
    }

    @Test func refusesWrongUsage() throws {
        let checkpoint = try makeCheckpoint(Self.mobile)
        try bench.expect(
            64, "export", "model.h5", "-o", "weights.pth", says: [".mlpackage", ".safetensors"])
        try bench.expect(
            64, "export", "model.h5", "-o", "w.h5", "--precision", "float16",
            says: ["has no effect for PyTorch weights"])
        try bench.expect(
            64, "export", "model.h5", "-o", "w.h5", "--size", "64",
            says: ["has no effect for PyTorch weights"])
        try bench.expect(64, "export", "model.h5", "-o", "model.h5", says: ["input itself"])
        try bench.expect(
            64, "import", "model.h5", "--architecture", "mobile-unet", "-o", "m.safetensors",
            says: ["a checkpoint is an HDF5 file"])
        #expect(bench.files == ["model.h5"])
        #expect(try Checkpoint(contentsOf: bench.path("model.h5")) == checkpoint)
    }
}
