import Foundation
import RetintArchitectures
import RetintCheckpoints
import RetintCommandSupport
import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

@Suite(.sampled()) struct ImportTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    @Test func importsAndReadsBack() throws {
        let weights = try bench.makeWeights()
        let result = try bench.expect(
            0, "import", weights, "--architecture", "mobile-unet", "-o", "model.h5")
        #expect(result.output.contains("mobile-unet, 246 tensors, 903,506 parameters"))
        let checkpoint = try Checkpoint(contentsOf: bench.path("model.h5"))
        #expect(checkpoint == (try Checkpoint(.named("mobile-unet"), seed: 1)))
    }

    /// What a training program on several GPUs saves, and where it keeps two networks.
    @Test func importsWhatTorchSaves() throws {
        let checkpoint = try Checkpoint(.named("mobile-unet"), seed: 1)
        var entries: [(String, [UInt8])] = []
        var records: [ZipMaker.Record] = []
        for (index, (name, tensor)) in checkpoint.state.enumerated() {
            let bytes =
                tensor.floats?.withUnsafeBytes { Array($0) }
                ?? tensor.integers!.withUnsafeBytes { Array($0) }
            let storage = Pickle.storage(
                tensor.floats == nil ? "LongStorage" : "FloatStorage", key: "\(index)",
                count: tensor.shape.count)
            entries.append(
                (
                    "module.\(name)",
                    Pickle.tensor(of: storage, tensor.shape.dimensions, tensor.shape.strides)
                ))
            records.append(.init("weights/data/\(index)", bytes))
        }
        let network = Pickle.dictionary(entries)
        for (file, object) in [
            ("one.pth", Pickle.dictionary(("model", network), ("epoch", Pickle.integer(3)))),
            ("two.pth", Pickle.dictionary(("params", network), ("params_ema", network))),
        ] {
            let pickle = ZipMaker.Record("weights/data.pkl", Pickle.whole(object))
            _ = try bench.write(Data(ZipMaker(records: [pickle] + records).bytes), to: file)
        }
        let arguments = ["--architecture", "mobile-unet", "-o", "model.h5"]
        #expect(try bench.run(["import", "one.pth"] + arguments).code == 0)
        #expect(try Checkpoint(contentsOf: bench.path("model.h5")) == checkpoint)
        let keyed = ["import", "two.pth", "--key", "params_ema"] + arguments
        #expect(try bench.run(keyed).code == 0)
        #expect(try Checkpoint(contentsOf: bench.path("model.h5")) == checkpoint)

        try bench.expect(
            65, "import", "two.pth", "--architecture", "mobile-unet", "-o", "none.h5",
            says: ["two.pth", "name a key", "\"params\" (246 tensors)", "\"params_ema\""])
        try bench.expect(65, "inspect", "two.pth", says: ["name a key"])
        let shown = try bench.expect(0, "inspect", "two.pth", "--key", "params")
        #expect(shown.output.contains("pytorch, 246 tensors"))
        try bench.expect(
            65, "inspect", "model.h5", "--key", "params", says: ["have no key"])
        try bench.expect(
            0, "import", "two.pth", "--key", "params", "-o", "guessed.h5",
            says: ["its tensors are those of mobile-unet"])
        #expect(try Checkpoint(contentsOf: bench.path("guessed.h5")) == checkpoint)
        try bench.expect(
            64, "import", "one.pth", "--architecture", "mobile-unet", "-o", "none.pth",
            says: ["a checkpoint is an HDF5 file"])
    }

    @Test(arguments: [
        ("mobile-unet", "width", "--width"), ("lite-unet", "decoder_width", "--decoder-width"),
    ])
    func keepsOptions(_ architecture: String, _ option: String, _ flag: String) throws {
        let narrow = try Checkpoint(
            .named(architecture, ColorizerOptions([option: "0.5"])), seed: 2)
        try narrow.state.write(to: bench.path("narrow.h5"))
        try bench.expect(
            0, "import", "narrow.h5", "--architecture", architecture, flag, "0.5", "-o", "model.h5")
        #expect(try Checkpoint(contentsOf: bench.path("model.h5")) == narrow)
        try bench.expect(
            65, "import", "narrow.h5", "--architecture", architecture, "-o", "wide.h5",
            says: ["mis-shaped"])
        #expect(!bench.files.contains("wide.h5"))
    }

    @Test func writesWeightsInFloat16() throws {
        let checkpoint = try Checkpoint(.named("pico-unet"), seed: 3)
        try checkpoint.write(to: bench.path("full.h5"))
        try bench.expect(0, "import", "full.h5", "--precision", "float16", "-o", "half.h5")
        let inspection = try bench.run(["inspect", "half.h5", "--json"]).output
        #expect(inspection.contains("float16"))
        try bench.expect(
            0, "verify", "half.h5", "--against", "full.h5", "--atol", "1", "--min-psnr", "60")
        try bench.expect(0, "import", "half.h5", "-o", "again.h5")
        #expect(
            try Checkpoint(contentsOf: bench.path("again.h5"))
                == Checkpoint(contentsOf: bench.path("half.h5")))
    }

    @Test func takesWhatACheckpointSaysOfItself() throws {
        var checkpoint = try Checkpoint(
            .named("class-unet", .init(width: 0.25, temperature: 0.6)), seed: 3)
        checkpoint.optimizer["optimizer.exp_avg.classes.bias"] = checkpoint.state["classes.bias"]
        try checkpoint.write(to: bench.path("trained.h5"))
        checkpoint.optimizer = StateDict()
        try bench.expect(0, "import", "trained.h5", "--saturation", "1.5", "-o", "livelier.h5")
        checkpoint.network = .named(
            "class-unet", .init(width: 0.25, temperature: 0.6, chromaScale: 1.5))
        #expect(try Checkpoint(contentsOf: bench.path("livelier.h5")) == checkpoint)
        try bench.expect(
            0, "import", "trained.h5", "--vivid-saturation", "2.5", "-o", "vivid.h5")
        checkpoint.network = .named(
            "class-unet", .init(width: 0.25, temperature: 0.6, vividChromaScale: 2.5))
        #expect(try Checkpoint(contentsOf: bench.path("vivid.h5")) == checkpoint)
        try bench.expect(
            64, "import", "trained.h5", "--architecture", "mobile-unet", "--saturation", "1.5",
            "-o", "none.h5", says: ["mobile-unet has no saturation", "class-unet"])
        // Named, an architecture has the options that are given alone.
        try bench.expect(
            65, "import", "trained.h5", "--architecture", "class-unet", "-o", "none.h5",
            says: ["mis-shaped"])
        try bench.expect(
            65, "import", "absent.h5", "--saturation", "1.5", "-o", "none.h5",
            says: ["absent.h5", "No such file"])
        var other = StateDict()
        other["a.weight"] = StoredTensor(shape: [2], floats: [1, 2])
        try other.write(to: bench.path("other.h5"))
        try bench.expect(
            64, "import", "other.h5", "-o", "none.h5",
            says: ["not a checkpoint", "--architecture NAME", "import network.onnx"])
        let mismatch = try bench.expect(
            65, "import", "other.h5", "--architecture", "mobile-unet", "-o", "none.h5",
            says: ["none of the 206 tensors of mobile-unet", "a.weight [2]", "network.onnx"])
        #expect(mismatch.messages.split(separator: "\n").count == 6, "\(mismatch.messages)")
        #expect(!bench.files.contains("none.h5"))
    }

    /// As in a checkpoint of Lightning, whose module has the network as an attribute.
    @Test(arguments: ["h5", "safetensors"])
    func leavesOutAPrefixOfAllNames(_ suffix: String) throws {
        let state = try Checkpoint(.named("mobile-unet"), seed: 1).state
        var named = StateDict()
        for (name, tensor) in state { named["net.model.\(name)"] = tensor }
        try named.write(to: bench.path("saved.\(suffix)"))
        try bench.expect(
            0, "import", "saved.\(suffix)", "-o", "net.h5", says: ["those of mobile-unet"])
        #expect(try Checkpoint(contentsOf: bench.path("net.h5")).state == state)
        named["loss.weight"] = StoredTensor(shape: [1], floats: [1])
        try named.write(to: bench.path("more.\(suffix)"))
        let arguments = [
            "import", "more.\(suffix)", "--architecture", "mobile-unet", "-o", "rest.h5",
        ]
        let strict = try bench.run(arguments)
        #expect(strict.code == 65 && strict.messages.contains("1 unexpected"))
        #expect(strict.messages.contains("all others fit: `retint import --non-strict` leaves"))
        #expect(try bench.run(arguments + ["--non-strict"]).code == 0)
        #expect(try Checkpoint(contentsOf: bench.path("rest.h5")).state == state)
        // Which of two networks is wanted, it does not say.
        for (name, tensor) in state { named["average.\(name)"] = tensor }
        try named.write(to: bench.path("two.\(suffix)"))
        let two = try bench.run(["import", "two.\(suffix)"] + arguments.dropFirst(2))
        #expect(two.code == 65 && two.messages.contains("none of the 206 tensors"))
    }

    /// Flags of the architectures' options are made from their table.
    @Test(arguments: [
        (["--width", "wide"], "'--width <width>': it takes a number from 0.0625 to 4"),
        (["--width", "9"], "width 9.0 is out of range; choose one from 0.0625 to 4"),
        (["--widht", "1"], "Unknown option '--widht'. Did you mean --width?"),
        (["--saturation"], "Missing value for '--saturation <saturation>'"),
        (["--no-class-head=no"], "'--no-class-head' does not take any value"),
    ])
    func refusesOptions(_ flags: [String], _ words: String) throws {
        let weights = try bench.makeWeights()
        let result = try bench.run(
            ["import", weights, "--architecture", "siggraph17"] + flags + ["-o", "none.h5"])
        #expect(result.code == 64 && result.messages.contains(words), "\(result.messages)")
    }

    @Test func refusesADecoderWidthWhereThereIsNone() throws {
        try bench.expect(
            64, "import", try bench.makeWeights(), "--architecture", "mobile-unet",
            "--decoder-width", "0.5", "-o", "none.h5", says: ["mobile-unet has no decoder width"])
    }

    /// Each change to the weights, what strict import says of it, and whether leniency helps.
    static let damages: [(words: [String], change: @Sendable (inout StateDict) -> Void)] = [
        (["1 missing", "stem.0.weight", "[16, 1, 3, 3]"], { $0["stem.0.weight"] = nil }),
        (
            ["1 unexpected", "extra.bias", "[7]"],
            { state in
                state["extra.bias"] = StoredTensor(
                    shape: [7], floats: Array(repeating: 0, count: 7))
            }
        ),
        (
            ["1 mis-shaped", "head.0.bias", "[2]", "[3]"],
            { state in
                state["head.0.bias"] = StoredTensor(shape: [3], floats: [0, 0, 0])
            }
        ),
    ]

    @Test(arguments: damages.indices)
    func listsWhatDiffers(_ index: Int) throws {
        let (words, change) = Self.damages[index]
        let weights = try bench.makeWeights(change: change)
        let before = bench.files
        let arguments = ["import", weights, "--architecture", "mobile-unet", "-o", "model.h5"]
        let strict = try bench.run(arguments)
        #expect(strict.code == 65)
        for word in words { #expect(strict.messages.contains(word), "\(strict.messages)") }
        #expect(bench.files == before)
        for flag in ["--non-strict", "--allow-missing"] {
            let lenient = try bench.run(arguments + [flag])
            #expect(lenient.code == 0, "\(lenient.messages)")
            #expect(lenient.messages.contains(words[0]))
        }
        let checkpoint = try Checkpoint(contentsOf: bench.path("model.h5"))
        #expect(checkpoint.state.count == 246)
    }

    @Test func refusesTensorsOfAnotherType() throws {
        let weights = try bench.makeWeights { state in
            state["head.0.bias"] = StoredTensor(shape: [2], integers: [1, 2])
        }
        try bench.expect(
            65, "import", weights, "--architecture", "mobile-unet", "-o", "model.h5",
            says: [weights, "head.0.bias", "int64"])
    }

    @Test func refusesOtherFiles() throws {
        let weights = try bench.makeWeights()
        let whole = try Data(contentsOf: URL(fileURLWithPath: bench.path(weights)))
        let cut = try bench.write(whole.prefix(whole.count / 2), to: "cut.h5")
        let text = try bench.write(Data("weights".utf8), to: "text.h5")
        let before = bench.files
        let cases = [
            ("absent.h5", "No such file"), (cut, "truncated"),
            (text, "not an HDF5, a safetensors"),
            (".", "directory"),
        ]
        for (file, words) in cases {
            try bench.expect(
                65, "import", file, "--architecture", "mobile-unet", "-o", "model.h5",
                says: [file, words])
        }
        try bench.expect(
            65, "import", weights, "--architecture", "siggraph17", "-o", "model.h5",
            says: ["none of the 98 tensors of siggraph17"])
        #expect(bench.files == before)
    }

    @Test func refusesWrongUsage() throws {
        let weights = try bench.makeWeights()
        let before = bench.files
        try bench.expect(
            64, "import", weights, "--architecture", "vgg", "-o", "model.h5",
            says: ["vgg", "mobile-unet"])
        try bench.expect(
            64, "import", weights, "--architecture", "mobile-unet", "--width", "9", "-o",
            "model.h5", says: ["0.0625"])
        try bench.expect(
            64, "import", weights, "--architecture", "mobile-unet", "-o", weights,
            says: ["input itself"])
        try bench.expect(64, "import", weights, says: ["Usage"])
        #expect(bench.files == before)
    }

    @Test func leavesNothingWhereItCannotWrite() throws {
        let weights = try bench.makeWeights()
        try bench.makeDirectory("folder")
        let before = bench.files
        for output in ["absent/model.h5", "folder"] {
            try bench.expect(
                1, "import", weights, "--architecture", "mobile-unet", "-o", output,
                says: [output, "cannot write"])
        }
        #expect(bench.files == before)
    }
}
