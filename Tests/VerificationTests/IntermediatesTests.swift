import Foundation
import RetintCheckpoints
import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

@testable import RetintRuntime
@testable import RetintVerification

/// Folders `NAME.aimodelintermediates`: one that coreai-torch wrote, and those that retint writes.
@Suite struct IntermediatesTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private static let golden = goldenPath("pico.aimodelintermediates")

    private static func model(_ scale: Float = 1) throws -> Model {
        var (checkpoint, _) = try Checkpoint.importing(
            weights: goldenPath("pico.h5"), of: .named("pico-unet", .init(width: 0.0625)))
        if scale != 1, let weight = checkpoint.state["stage16.1.1.0.weight"]?.floats {
            let shape = checkpoint.state["stage16.1.1.0.weight"]!.shape
            checkpoint.state["stage16.1.1.0.weight"] = StoredTensor(
                shape: shape, floats: weight.map { $0 * scale })
        }
        return Model(checkpoint)
    }

    @Test func readsWhatCoreAITorchWrote() throws {
        let reference = try Reference(contentsOf: Self.golden)
        #expect(reference.inputs.map(\.name) == ["lightness"])
        #expect(reference.inputs[0].data.shape == [1, 1, 32, 32])
        #expect(reference.outputs.map(\.name) == ["mul_1"])
        let shapes = try #require(reference.activations?.shapes)
        // In the order of computation, without the weight that is recorded too.
        #expect(shapes.count == 70)
        #expect(shapes.prefix(4).map(\.path) == ["sub", "mul", "convolution", "relu"])
        #expect(shapes[3].shape == [1, 16, 16, 16])
        #expect(try reference.activations?.read("relu").scalars.allSatisfy { $0 >= 0 } == true)
    }

    /// Operations have other names in PyTorch, and are found by kind, shape and order.
    @Test func operationsAreComparedWithPyTorch() throws {
        let report = try Self.model().verify(against: Reference(contentsOf: Self.golden))
        #expect(report.passed && report.firstDeparture == nil)
        let compared = report.layers.filter { $0.error != nil }
        // Every activation and every convolution, at least.
        let kinds = Dictionary(grouping: compared) { $0.value.operation }.mapValues(\.count)
        #expect(kinds["relu"] == 26 && (kinds["conv2d"] ?? 0) >= 25, "\(kinds)")
        #expect(compared.allSatisfy { ($0.error?.snr ?? 0) > 80 })
    }

    @Test func anAlteredWeightDepartsWhereItIs() throws {
        let report = try Self.model(1.5).verify(against: Reference(contentsOf: Self.golden))
        let departure = try #require(report.firstDeparture)
        #expect(report.layers[departure.layer].value.module.hasPrefix("stage16.1.1"))
        #expect(!report.passed)
    }

    @Test func whatRetintWritesIsItsOwnReference() throws {
        let path = scratch.path("own.aimodelintermediates")
        var options = VerificationOptions()
        options.intermediates = path
        _ = try Self.model().verify(against: Reference(contentsOf: Self.golden), options: options)
        // The folder is replaced.
        let first = try Self.model().verify(
            against: Reference(contentsOf: Self.golden), options: options)
        let second = try Self.model().verify(against: Reference(contentsOf: path))
        #expect(second.passed && second.comparedCount == first.layers.count - 1)
        let exact = second.layers.compactMap(\.error).allSatisfy { $0.maxAbs == 0 }
        #expect(exact)
        let metadata = try IntermediatesMetadata(path)
        let relu = try #require(
            metadata.intermediates.values.first {
                $0.nodeTarget == "retint.relu" && $0.shape == [1, 16, 16, 16]
            })
        #expect(relu.numel == 4096 && relu.torchDtype == "torch.float32")
        #expect(relu.nodeName.hasPrefix("stem") && relu.dataFile.hasPrefix("data/stem"))
        #expect(metadata.inputs.keys.sorted() == ["lightness"])
        #expect(metadata.outputs.keys.sorted() == ["ab"])
    }

    /// Runs that only show where errors come from leave the folder of the verification alone.
    @Test func aDiagnosisWritesNoValues() throws {
        let network = Network(network: .named("pico-unet", .init(width: 0.25)))
        let (half, other) = (Model(try network.package(.float16)), try network.model())
        let path = scratch.path("diagnosis.aimodelintermediates")
        var options = VerificationOptions()
        options.intermediates = path
        _ = try half.errorSources(against: other, on: network.lightness, options: options)
        _ = try half.compareStages(
            [.lowered], against: other, on: network.lightness, options: options)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func otherFoldersAreNotReplaced() throws {
        let path = scratch.path("mine.aimodelintermediates")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try Data().write(to: URL(filePath: path + "/letter.txt"))
        var options = VerificationOptions()
        options.intermediates = path
        #expect(throws: (any Error).self) {
            try Self.model().verify(
                against: Reference(contentsOf: Self.golden), options: options)
        }
        #expect(FileManager.default.fileExists(atPath: path + "/letter.txt"))
    }

    @Test(arguments: [
        ("\"data/lightness_0001.npy\"", "\"../data/lightness_0001.npy\"", "must be in the folder"),
        ("\"data/lightness_0001.npy\"", "\"data/../../a.npy\"", "must be in the folder"),
        ("\"data/lightness_0001.npy\"", "\"/data/a.npy\"", "must be in the folder"),
        ("\"data/lightness_0001.npy\"", "\"data/none.npy\"", "none.npy"),
        ("\"data/lightness_0001.npy\"", "\"data/relu_0005.npy\"", "has shape [1, 16, 16, 16], but"),
        ("\"shape\": [\n        1,", "\"shape\": [\n        -1,", "its shape must have"),
        ("\"shape\": [\n        1,", "\"shape\": [\n        1073741825,", "its shape must have"),
        ("\"inputs\"", "\"input\"", "does not describe intermediate values"),
        ("\"numel\": 1024", "\"numel\": {}", "does not describe intermediate values"),
        ("{", "", "does not describe intermediate values"),
    ])
    func badFoldersAreRefused(_ old: String, _ new: String, _ phrase: String) throws {
        let path = scratch.path("bad.aimodelintermediates")
        try FileManager.default.copyItem(atPath: Self.golden, toPath: path)
        let file = URL(filePath: path + "/metadata.json")
        var text = try String(contentsOf: file, encoding: .utf8)
        let range = try #require(text.range(of: old))
        text.replaceSubrange(range, with: new)
        try Data(text.utf8).write(to: file)
        let error = #expect(throws: (any Error).self) { try Reference(contentsOf: path) }
        #expect("\(error as Any)".contains(phrase), "\(error as Any)")
    }

    /// A folder from somebody else must not lead to files of one's own.
    @Test(arguments: ["data", "data/lightness_0001.npy", "metadata.json"])
    func linksAreNotFollowed(_ name: String) throws {
        let path = scratch.path("linked.aimodelintermediates")
        let files = FileManager.default
        try files.copyItem(atPath: Self.golden, toPath: path)
        try files.moveItem(atPath: "\(path)/\(name)", toPath: scratch.path("elsewhere"))
        try files.createSymbolicLink(
            atPath: "\(path)/\(name)", withDestinationPath: scratch.path("elsewhere"))
        let error = #expect(throws: (any Error).self) { try Reference(contentsOf: path) }
        #expect("\(error as Any)".contains("it is a symbolic link"), "\(error as Any)")
        // The folder itself may be reached through one.
        try files.createSymbolicLink(
            atPath: scratch.path("way"), withDestinationPath: Self.golden)
        #expect(try Reference(contentsOf: scratch.path("way")).inputs.count == 1)
    }

    /// Data sets have a `metadata.json` and a folder `data` with `.npy` files, too.
    @Test func foldersOfOtherDataAreNotReplaced() throws {
        let path = scratch.path("dataset")
        try FileManager.default.createDirectory(
            atPath: path + "/data", withIntermediateDirectories: true)
        for (name, text) in [("metadata.json", "{\"samples\": 1}"), ("data/0.npy", "samples")] {
            try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
        }
        var options = VerificationOptions()
        options.intermediates = path
        let error = #expect(throws: (any Error).self) {
            try Self.model().verify(
                against: Reference(contentsOf: Self.golden), options: options)
        }
        #expect("\(error as Any)".contains("is not of such a directory"), "\(error as Any)")
        #expect(FileManager.default.fileExists(atPath: path + "/data/0.npy"))
    }

    @Test func foldersOfOtherThingsAreRefused() throws {
        let error = #expect(throws: (any Error).self) {
            try Reference(contentsOf: scratch.path(""))
        }
        #expect("\(error as Any)".contains("metadata.json"))
    }
}

extension IntermediatesMetadata {
    fileprivate init(_ folder: String) throws {
        let data = try Data(contentsOf: URL(filePath: folder + "/metadata.json"))
        self = try JSONDecoder().decode(Self.self, from: data)
    }
}
