import Foundation
import RetintCheckpoints
import RetintCommandSupport
import RetintMLPackage
import RetintTensorFiles
import RetintTestSupport
import Testing

/// `export` in its choices, and what `verify` makes of the packages.
@Suite(.sampled()) struct ExportCommandTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    /// What an app gets of a classifier, and what the package says of it.
    @Test func labelsOfAClassifierAreKept() throws {
        let source = goldenPath("classifier-iOS16.mlpackage", of: "MLPackageTests")
        try bench.expect(0, "export", source, "--target", "iOS17", "-o", "c.mlpackage")
        for package in [source, "c.mlpackage"] {
            let text = try bench.expect(0, "inspect", package).output
            #expect(text.contains("3 labels of var_"), "\(text)")
            #expect(text.contains(": an app gets classLabel, classLabel_probs\n"), "\(text)")
        }
        try bench.expect(0, "verify", "c.mlpackage", "--against", source)
        for file in ["c.onnx", "c.aimodel"] {
            try bench.expect(
                0, "export", source, "-o", file, says: ["the 3 labels were left out"])
        }
        var package = try MLPackage(contentsOf: bench.path("c.mlpackage"))
        package.description.classifier = nil
        try package.write(to: bench.path("plain.mlpackage"))
        let difference = try bench.run(["diff", "c.mlpackage", "plain.mlpackage"])
        #expect(difference.output.contains("classLabel, classLabel_probs"))
    }

    /// Equal numbers mean something else.
    @Test func otherLabelsOfAClassifierAreNamed() throws {
        let source = goldenPath("classifier-iOS16.mlpackage", of: "MLPackageTests")
        try FileManager.default.copyItem(atPath: source, toPath: bench.path("other.mlpackage"))
        let model = bench.path("other.mlpackage/Data/com.apple.CoreML/model.mlmodel")
        var bytes = try Data(contentsOf: URL(filePath: model))
        while let place = bytes.range(of: Data("grass".utf8)) {
            bytes.replaceSubrange(place, with: Data("glass".utf8))
        }
        try bytes.write(to: URL(filePath: model))
        #expect(
            try bench.expect(0, "inspect", "other.mlpackage").output.contains("(sky, glass, skin)"))
        let sentence = "label 1 is \"glass\" instead of \"grass\""
        let verified = try bench.run(["verify", "other.mlpackage", "--against", source])
        #expect(verified.code == 2 && verified.output.contains(sentence), "\(verified.output)")
        let saved = try bench.run([
            "verify", "other.mlpackage", "--against", source, "--save", "r.json",
        ])
        #expect(saved.code == 2)
        #expect(try bench.run(["verify", "r.json"]).output.contains(sentence))
        for options in [[], ["--no-run"]] {
            let different = try bench.run(["diff", source, "other.mlpackage"] + options)
            #expect(different.code == 2 && different.output.contains("label 1"), "\(options)")
        }
    }

    /// Both models get the same photo, whatever they call first, red or blue.
    @Test func imagesInAnotherOrderOfColorsDiffer() throws {
        for space in [ImageFeature.ColorSpace.rgb, .bgr] {
            try Self.weighing(space).write(to: bench.path("\(space).mlpackage"))
        }
        let source = "rgb.mlpackage"
        let photo = try bench.makePhoto("p.png")
        for inputs in [[], ["--photo", photo]] {
            let verified = try bench.run(
                ["verify", "bgr.mlpackage", "--against", source] + inputs)
            #expect(verified.code == 2, "\(verified.output)")
            #expect(
                try bench.run(["diff", source, "bgr.mlpackage"] + inputs).code == 2)
        }
        // One that takes blue first and turns it around is the same to an app.
        try Self.weighing(.bgr, reverses: true).write(to: bench.path("turned.mlpackage"))
        for (one, other) in [("turned", "rgb"), ("rgb", "turned"), ("bgr", "bgr")] {
            try bench.expect(
                0, "verify", "\(one).mlpackage", "--against", "\(other).mlpackage", "--photo",
                photo)
        }
    }

    /// So are pictures that come out.
    @Test func picturesInAnotherOrderOfColorsDiffer() throws {
        for space in [ImageFeature.ColorSpace.rgb, .bgr] {
            var package = try Self.weighing(.rgb)
            package.description.outputs[0].type = .image(
                ImageFeature(width: 8, height: 8, colorSpace: space))
            try package.write(to: bench.path("\(space).mlpackage"))
        }
        let verified = try bench.run(["verify", "bgr.mlpackage", "--against", "rgb.mlpackage"])
        #expect(verified.code == 2, "\(verified.output)")
        #expect(try bench.run(["diff", "rgb.mlpackage", "bgr.mlpackage"]).code == 2)
        try bench.expect(0, "verify", "bgr.mlpackage", "--against", "bgr.mlpackage")
        // Blue and red weigh as much in the other order.
        var turned = try Self.weighing(.bgr, weights: [3, 2, 1])
        turned.description.outputs[0].type = .image(
            ImageFeature(width: 8, height: 8, colorSpace: .bgr))
        try turned.write(to: bench.path("turned.mlpackage"))
        let photo = try bench.makePhoto("p.png")
        for (one, other) in [("turned", "rgb"), ("rgb", "turned")] {
            try bench.expect(
                0, "verify", "\(one).mlpackage", "--against", "\(other).mlpackage", "--photo",
                photo)
        }
    }

    /// The channels of an image of 8 × 8 pixels, times weights.
    ///
    /// - Parameter reverses: whether the last channel is the first before that.
    private static func weighing(
        _ space: ImageFeature.ColorSpace, weights: [Float] = [1, 2, 3], reverses: Bool = false
    ) throws -> MLPackage {
        var builder = MILProgramBuilder()
        let type = MILTensorType(.float32, [1, 3, 8, 8])
        var photo = builder.input("photo", type)
        if reverses {
            photo = builder.operation(
                "reverse", ["x": .name(photo), "axes": .constant(.integers([1]))],
                name: "reverse", type: type)
        }
        let factors = MILValue.floats(weights, shape: [1, 3, 1, 1], as: .float32)
        let product = builder.operation(
            "mul", ["x": .name(photo), "y": .constant(factors)], name: "mul", type: type)
        try builder.output(product, as: "weighed")
        let image = ImageFeature(width: 8, height: 8, colorSpace: space)
        let array = ArrayFeature(.float32, [1, 3, 8, 8])
        return MLPackage(
            target: .iOS15,
            description: ModelDescription(
                inputs: [Feature("photo", .image(image))],
                outputs: [Feature("weighed", .multiArray(array))]),
            program: builder.program)
    }

    /// A program is valid for later targets, whatever a conversion would not keep.
    @Test func aLaterTargetChangesNothingElse() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(
            0, "export", model, "-o", "mixed.mlpackage", "--precision", "float16",
            "--keep-float32", "head.*", "--min-size", "32", "--max-size", "128", "--size", "64")
        try bench.expect(
            0, "quantize", "mixed.mlpackage", "-o", "small.mlpackage", "--weights", "int8",
            "--threshold", "100")
        for name in ["mixed", "small"] {
            let source = "\(name).mlpackage"
            try bench.expect(0, "export", source, "-o", "later.mlpackage", "--target", "iOS18")
            var later = try MLPackage(contentsOf: bench.path("later.mlpackage"))
            let original = try MLPackage(contentsOf: bench.path(source))
            #expect(later.target == .iOS18 && original.target < .iOS18)
            later.target = original.target
            #expect(try content(later) == content(original))
            try bench.expect(
                64, "export", "later.mlpackage", "-o", "early.mlpackage", "--target", "iOS17",
                says: ["later.mlpackage", "would not keep"])
        }
        try bench.expect(
            0, "export", "mixed.mlpackage", "-o", "raised.mlpackage", "--target", "iOS18")
        try bench.expect(
            0, "quantize", "raised.mlpackage", "-o", "four.mlpackage", "--weights", "int4",
            "--threshold", "100")
    }

    /// The bytes of a package that is written.
    private func content(_ package: MLPackage) throws -> [Data] {
        let folder = bench.path("content.mlpackage")
        try package.write(to: folder)
        return try ["model.mlmodel", "weights/weight.bin"].map {
            try Data(contentsOf: URL(filePath: "\(folder)/Data/com.apple.CoreML/\($0)"))
        }
    }

    /// Powers of two move between weights, whatever the package is made from.
    @Test func valuesAreRepaired() throws {
        let model = try bench.makeCheckpoint()
        let photo = try bench.makePhoto("a.png")
        let repair = ["--repair", "--calibrate", photo]
        try bench.expect(0, "export", model, "-o", "plain.mlpackage", "--size", "64")
        let one = try bench.expect(
            0, ["export", model, "-o", "one.mlpackage", "--size", "64"] + repair)
        let two = try bench.expect(
            0, ["export", "plain.mlpackage", "-o", "two.mlpackage"] + repair)
        for result in [one, two] {
            #expect(
                result.output.contains("outputs in float32 have the same bits")
                    || result.output.contains("all values fit float16"))
        }
        let packages = try ["one", "two"].map {
            try MLPackage(contentsOf: bench.path("\($0).mlpackage"))
        }
        #expect(try content(packages[0]) == content(packages[1]))
        for options in [["--repair"], ["--calibrate", photo], ["--limit", "3"]] {
            try bench.expect(
                64, ["export", model, "-o", "three.mlpackage"] + options, says: ["--repair"])
        }
    }

    /// Every choice makes a package that computes what the checkpoint does.
    @Test(arguments: [
        ["--precision", "float16", "--keep-float32", "head.*", "--keep-float32-types", "tanh"],
        ["--min-size", "32", "--max-size", "128x96", "--size", "64"],
        ["--sizes", "64,96x32", "--input", "image"],
        ["--height", "32", "--width", "64", "--normalization", "outside"],
        ["--input", "image", "--image-scale", "-0.5", "--image-bias", "100", "--size", "64"],
        ["--no-fold", "--size", "64"],
        ["--target", "iOS26", "--element-type", "int8", "--size", "64"],
        [
            "--target", "iOS26", "--element-type", "int8", "--output-form", "split", "--sizes",
            "64,96",
        ],
        ["--target", "iOS16", "--element-type", "float16", "--precision", "float16"],
        ["--target", "iOS18", "--element-type", "float16", "--input", "image", "--size", "64"],
    ])
    func verifies(_ options: [String]) throws {
        let model = try bench.makeCheckpoint()
        let export = try bench.run(["export", model, "-o", "m.mlpackage"] + options)
        #expect(export.code == 0, "\(export.messages)")
        try bench.expect(0, "verify", "m.mlpackage", "--against", model)
        try bench.expect(0, "colorize", "m.mlpackage", bench.makePhoto("a.png"), "-o", "out")
    }

    @Test(arguments: [
        (["--element-type", "int8", "--target", "iOS18"], "int8 needs the target iOS26"),
        (["--element-type", "float16"], "float16 needs the target iOS16"),
        (
            ["--element-type", "int8", "--target", "iOS26", "--normalization", "outside"],
            "int8 cannot store"
        ),
    ])
    func refusesElementTypes(_ options: [String], _ rule: String) throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(64, ["export", model, "-o", "m.mlpackage"] + options, says: [rule])
        #expect(!FileManager.default.fileExists(atPath: bench.path("m.mlpackage")))
    }

    /// A Core AI model computes what the checkpoint does, in every command that takes a package.
    @Test(arguments: [
        ["--size", "64"], ["--precision", "float16", "--output-form", "split", "--size", "64"],
        ["--normalization", "outside", "--no-fold", "--height", "32", "--width", "64"],
    ])
    func writesCoreAIModels(_ options: [String]) throws {
        let model = try bench.makeCheckpoint()
        let export = try bench.run(["export", model, "-o", "m.aimodel"] + options)
        #expect(export.code == 0, "\(export.messages)")
        try bench.expect(0, "verify", "m.aimodel", "--against", model)
        try bench.expect(0, "colorize", "m.aimodel", bench.makePhoto("a.png"), "-o", "out")
        let inspection = try bench.run(["inspect", "m.aimodel"])
        #expect(inspection.output.contains("m.aimodel: Core AI model"))
        try bench.expect(0, "export", "m.aimodel", "-o", "back.mlpackage")
        try bench.expect(0, "verify", "back.mlpackage", "--against", "m.aimodel")
        try bench.expect(
            0, "quantize", "back.mlpackage", "-o", "small.aimodel", "--weights", "palette4",
            "--threshold", "1")
        try bench.expect(
            0, "verify", "small.aimodel", "--against", "m.aimodel", "--atol", "300",
            "--max-mean", "300", "--min-psnr", "1", "--max-delta-e", "300")
    }

    /// Core ML's older forms become packages that compute the same.
    @Test(arguments: [
        ("unet.mlmodel", "Core ML neural network"), ("unet-range.mlmodel", "Core ML neural"),
        ("compiled-ios16.mlmodelc", "compiled package for iOS16"),
    ])
    func writesPackagesOfOlderForms(_ name: String, _ form: String) throws {
        let model = goldenPath(name, of: "NeuralNetworkTests")
        let inspection = try bench.run(["inspect", model])
        #expect(inspection.output.contains("\(name): \(form)"))
        try bench.expect(0, "export", model, "-o", "new.mlpackage")
        try bench.expect(0, "verify", "new.mlpackage", "--against", model)
        try bench.expect(0, "export", model, "-o", "new.onnx")
        try bench.expect(64, "export", "new.mlpackage", "-o", "m.mlmodel", says: ["extension"])
    }

    @Test func refusesWhatCoreAIModelsHaveNot() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(
            64, "export", model, "-o", "m.aimodel", "--target", "iOS18",
            says: ["--target has no effect for Core AI"])
        let image = try bench.expect(
            65, "export", model, "-o", "m.aimodel", "--input", "image", "--size", "64",
            says: ["m.aimodel", "an .aimodel cannot take this image"])
        #expect(!image.messages.contains("Others cannot take its place"))
        try bench.expect(0, "export", model, "-o", "m.aimodel", "--size", "64")
        try bench.expect(
            65, "export", "m.aimodel", "-o", "w.h5", says: ["m.aimodel", "have no names"])
    }

    @Test func verifiesAtEverySize() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(
            0, "export", model, "-o", "m.mlpackage", "--min-size", "32", "--max-size", "128",
            says: ["multiples of 32"])
        try bench.expect(0, "verify", "m.mlpackage", "--against", model, "--size", "32")
        try bench.expect(
            65, "verify", "m.mlpackage", "--against", model, "--size", "160",
            says: ["not one of the sizes it takes", "32…128"])
        try bench.expect(
            65, "verify", "m.mlpackage", "--against", model, "--size", "40",
            says: ["multiples of 32"])
        try bench.expect(
            64, "colorize", "m.mlpackage", bench.makePhoto("a.png"), "-o", "out", "--size", "160",
            says: ["not one of the sizes"])
    }

    /// Sizes are shown as Core ML's interface has them.
    @Test func inspectsSizes() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(
            0, "export", model, "-o", "range.mlpackage", "--min-size", "32", "--max-size", "128x96",
            "--size", "64")
        let text = try bench.expect(0, "inspect", "range.mlpackage").output
        #expect(text.contains("fp32 [1, 1, 64, 64], takes [1, 1, 32…96, 32…128]"))
        let range = try bench.json(bench.expect(0, "inspect", "range.mlpackage", "--json"))
        let input = try #require((range["inputs"] as? [[String: Any]])?.first)
        #expect(input["shape_range"] as? [[Int]] == [[1, 1], [1, 1], [32, 96], [32, 128]])
        try bench.expect(
            0, "export", model, "-o", "list.mlpackage", "--sizes", "64,96x32", "--input", "image")
        let list = try bench.json(bench.expect(0, "inspect", "list.mlpackage", "--json"))
        let picture = try #require((list["inputs"] as? [[String: Any]])?.first)
        #expect(picture["enumerated_shapes"] as? [[Int]] == [[1, 1, 64, 64], [1, 1, 32, 96]])
        #expect(picture["shape"] as? [Int] == [1, 1, 64, 64])
    }

    @Test func saysThatAPackageIsOneAlready() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(0, "export", model, "-o", "m.mlpackage", "--size", "64")
        try bench.expect(
            64, "export", "m.mlpackage", "-o", "n.mlpackage",
            says: ["is already a package", "retint quantize", "-o weights.h5"])
    }

    /// Results beyond float16 are found on a photo, and what makes or reads them stays in float32.
    @Test func keepsWhatOverflows() throws {
        let model = try makeOverflowingCheckpoint("model.h5")
        let photo = try bench.makePhoto("a.png")
        let arguments = [
            "export", model, "-o", "m.mlpackage", "--size", "64", "--precision", "float16",
        ]
        #expect(try bench.run(arguments).output.contains("float16, iOS15"))
        let verify = ["verify", "m.mlpackage", "--against", model, "--photo", photo]
        #expect(try bench.run(verify).code == 2)
        let kept = try bench.run(arguments + ["--keep-float32-overflow", photo])
        #expect(kept.output.contains("mixed, iOS15"), "\(kept.messages)")
        #expect(kept.messages.contains("up4_fuse_0_conv2d"))
        #expect(kept.messages.contains("up2_narrow_0_conv2d"))
        #expect(try bench.run(verify).code == 0)
    }

    /// A network whose results are about 10⁵ in one place, and taken back behind it.
    private func makeOverflowingCheckpoint(_ name: String) throws -> String {
        var checkpoint = try Checkpoint(.named("mobile-unet"), seed: 1)
        for (tensor, factor) in [
            ("up4.fuse.1.weight", Float(1e5)), ("up4.fuse.1.bias", 6e4),
            ("up2.narrow.0.weight", 1e-5),
        ] {
            let stored = try #require(checkpoint.state[tensor])
            let isBias = tensor.hasSuffix("bias")
            let values = try #require(stored.floats).map { isBias ? factor : $0 * factor }
            checkpoint.state[tensor] = StoredTensor(shape: stored.shape, floats: values)
        }
        try checkpoint.write(to: bench.path(name))
        return name
    }

    @Test(arguments: [
        (["--precision", "float16", "--keep-float32", "nothing*"], "has this name or type"),
        (["--keep-float32", "head*"], "--precision float16"),
        (["--sizes", "64", "--size", "64"], "--sizes cannot be combined"),
        (["--height", "64"], "--height and --width"), (["--min-size", "32"], "go together"),
        (["--min-size", "32", "--max-size", "50"], "multiples of 32"),
        (["--sizes", "64,x"], "64,x"), (["--image-scale", "2"], "--input image"),
        (["--input", "image", "--image-scale", "0"], "does not distinguish pixel values"),
        (["--precision", "float16", "--overflow-margin", "0"], "from 1"),
    ])
    func refusesUsage(_ options: [String], _ words: String) throws {
        let model = try bench.makeCheckpoint()
        let result = try bench.run(["export", model, "-o", "m.mlpackage"] + options)
        #expect(result.code == 64 && result.messages.contains(words), "\(result.messages)")
        #expect(!FileManager.default.fileExists(atPath: bench.path("m.mlpackage")))
    }

    /// Options that have no meaning for what is written, by the output's extension.
    @Test(arguments: [
        ("w.h5", ["--target", "iOS15"], ["--target", "PyTorch weights", "Core ML (.mlpackage)"]),
        ("w.safetensors", ["--precision", "float32"], ["--precision", "PyTorch weights"]),
        ("w.h5", ["--overflow-margin", "4"], ["--overflow-margin"]),
        ("w.h5", ["--size", "64"], ["--size"]),
        ("w.h5", ["--output-form", "ab"], ["--output-form"]),
        ("w.h5", ["--no-fold"], ["--no-fold"]), ("w.h5", ["--author", "me"], ["--author"]),
        ("m.onnx", ["--target", "iOS16"], ["--target has no effect for ONNX", "Core ML"]),
        (
            "m.aimodel", ["--sizes", "64,128"],
            ["--sizes has no effect for Core AI", "Core ML", "ONNX"]
        ),
        ("m.onnx", ["--opset", "10"], ["from 11 to 21"]),
        ("m.mlpackage", ["--opset", "17"], ["--opset has no effect for Core ML", "(.onnx)"]),
        ("m.mlpackage", ["--external-data"], ["--external-data"]),
        ("m.mlpackage", ["--allow-folded"], ["--allow-folded", "(.h5, .hdf5, .safetensors)"]),
        ("m.zip", [], ["m.zip: unknown extension", ".mlpackage", ".safetensors"]),
    ])
    func refusesOptionsOfOtherFormats(
        _ output: String, _ options: [String], _ words: [String]
    ) throws {
        let arguments = ["export", try bench.makeCheckpoint(), "-o", output] + options
        try bench.expect(64, arguments, says: words)
        #expect(!FileManager.default.fileExists(atPath: bench.path(output)))
    }

    /// A package is written as it is; what was said about a checkpoint is in both.
    @Test func writesONNX() throws {
        let model = try bench.makeCheckpoint()
        let network = try bench.expect(0, "export", model, "-o", "m.onnx", "--size", "64")
        #expect(network.output.contains("m.onnx: float32, opset 17, "))
        try bench.expect(0, "export", model, "-o", "m.mlpackage", "--size", "64")
        let translated = try bench.expect(
            0, "export", "m.mlpackage", "-o", "again.onnx", "--external-data")
        #expect(translated.output.hasPrefix("again.onnx and again.onnx.data: opset 17, "))
        try bench.expect(
            64, "export", "m.mlpackage", "-o", "n.onnx", "--size", "96",
            says: ["--size has no effect", "retint export m.mlpackage -o weights.h5"])
        #expect(!bench.files.contains("n.onnx"))
    }

    @Test func refusesAFolderWithoutPhotos() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("empty")
        try bench.expect(
            65, "export", model, "-o", "m.mlpackage", "--precision", "float16",
            "--keep-float32-overflow", "empty", says: ["empty: contains no photo"])
    }
}
