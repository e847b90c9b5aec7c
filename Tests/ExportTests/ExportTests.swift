import Foundation
import RetintArchitectures
import RetintCheckpoints
import RetintExport
import RetintFiles
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensorFiles
import RetintTensors
import RetintTestSupport
import Testing

@Suite struct ExportTests {
    private static func checkpoint() throws -> Checkpoint {
        try Checkpoint(.named("mobile-unet", .init(width: 0.25)), seed: 1)
    }

    @Test(arguments: ExportOptions.Target.allCases, ExportOptions.Precision.allCases)
    func sameBytes(_ target: ExportOptions.Target, _ precision: ExportOptions.Precision) throws {
        let scratch = try TemporaryFolder()
        let options = ExportOptions(precision: precision, target: target, size: 32)
        for name in ["first", "second"] {
            try Self.checkpoint().export(to: scratch.path(name), options: options)
        }
        let first = try contents(ofFolder: scratch.path("first"))
        #expect(first.count >= 3)
        #expect(try first == contents(ofFolder: scratch.path("second")))
    }

    @Test func metadata() throws {
        let scratch = try TemporaryFolder()
        var options = ExportOptions(precision: .float16, target: .iOS17, size: 32)
        (options.author, options.license) = ("Somebody", "MIT")
        options.version = "1.2"
        var checkpoint = try Self.checkpoint()
        checkpoint.training = #"{"best_loss":0.125,"configuration":"a: 1","step":200}"#
        let summary = try checkpoint.export(to: scratch.path("m"), options: options)
        let package = try MLPackage(contentsOf: scratch.path("m"))
        let metadata = package.description.metadata
        #expect(package.target == .iOS17)
        #expect(metadata.author == "Somebody" && metadata.license == "MIT")
        #expect(metadata.version == "1.2")
        let values = NodeRecord.key
        #expect(
            metadata.userDefined.filter { $0.key != values } == [
                "retint.architecture": "mobile-unet", "retint.options": "width=0.25",
                "retint.precision": "float16",
                "retint.checkpoint": weightsHash(checkpoint.variables),
                "retint.normalization": "inside", "retint.folded": "\(summary.foldedCount)",
                "retint.version": retintVersion,
                "retint.training.step": "200", "retint.training.best_loss": "0.125",
            ])
        #expect(summary.foldedCount > 20)
        #expect(summary.checkpointHash.count == 64)
    }

    /// A package is made again only from the network that its metadata describes.
    @Test(arguments: [
        (NetworkDescription.named("mobile-unet", .init(width: 0.25)), true),
        (.named("mobile-unet", .init(width: 0.5)), false),
        (.named("pico-unet", .init(width: 0.25)), false),
    ])
    func originalsAreOfTheSameNetwork(_ network: NetworkDescription, _ isSame: Bool) throws {
        let package = try Self.checkpoint().package(ExportOptions(precision: .float16, size: 32))
        let source = try ExportSource(Checkpoint(network, seed: 1))
        #expect(try (originalPackage(of: package, from: source) != nil) == isSame)
    }

    /// The metadata records the node of each value, and raising returns it.
    @Test(arguments: ExportOptions.Precision.allCases)
    func recordsNodes(_ precision: ExportOptions.Precision) throws {
        let scratch = try TemporaryFolder()
        let checkpoint = try Self.checkpoint()
        let graph = Graph(mode: .inference)
        let colorizer = try ExportSource(checkpoint).colorizer
        _ = colorizer(graph.input("input", [1, 1, 32, 32]))
        let names = Set(
            graph.nodes.map { node in
                node.module.isEmpty
                    ? node.operation.name : "\(node.module).\(node.operation.name)"
            })
        let package = try checkpoint.package(ExportOptions(precision: precision, size: 32))
        try package.write(to: scratch.path("recorded"))
        let model = try RaisedPackage(try MLPackage(contentsOf: scratch.path("recorded"))).model
        let nodes = model.results.compactMap(\.node)
        #expect(nodes.allSatisfy(names.contains))
        #expect(2 * nodes.count > model.results.count)
    }

    @Test func hash() {
        // The SHA-256 of the bytes 00 00 80 3f 00 00 00 c0.
        let values = [
            "b": TensorData(shape: [1], scalars: [-2]), "a": TensorData(shape: [1], scalars: [1]),
        ]
        #expect(
            weightsHash(values)
                == "ee4ac73c2bd27756ab82780f27c73a7bc4d3f0bb6acb37e008bc27eccd7e588b")
        #expect(
            weightsHash([:])
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test(arguments: [30, 0, -32, 16416])
    func refusesSizes(_ size: Int) throws {
        let error = try refusal(ExportOptions(size: size))
        #expect(error.place == "height \(size)")
        #expect(error.rule.contains("multiples of 32"))
    }

    struct BadWeight: Sendable {
        let value: Float
        let precision: ExportOptions.Precision
        let remedy: String
    }

    @Test(arguments: [
        BadWeight(value: .nan, precision: .float32, remedy: "diverge"),
        BadWeight(value: .infinity, precision: .float16, remedy: "diverge"),
        BadWeight(value: 65505, precision: .float16, remedy: "float32"),
    ])
    func refusesWeights(_ bad: BadWeight) throws {
        let name = "head.0.weight"
        let error = try refusal(ExportOptions(precision: bad.precision, size: 32)) { checkpoint in
            try checkpoint.setWeights(name, [0, 0, 0, bad.value])
        }
        #expect(error.place == "tensor \(name)")
        #expect(error.remedy.contains(bad.remedy))
    }

    /// With clamping, the summary lists the clamped tensors; NaN is still refused.
    @Test func clamps() throws {
        let scratch = try TemporaryFolder()
        var (checkpoint, options) = (try Self.checkpoint(), ExportOptions(size: 32))
        (options.precision, options.clampsWeights) = (.float16, true)
        let name = "head.0.weight"
        try checkpoint.setWeights(name, [70_000, -.infinity, .infinity, 65504])
        let summary = try checkpoint.export(to: scratch.path("m"), options: options)
        #expect(summary.clamped.map(\.name) == [name] && summary.clamped.map(\.count) == [3])
        let package = try MLPackage(contentsOf: scratch.path("m"))
        let weight = package.program.operations.first { $0.outputs[0].name == "head_0_weight" }
        let values = try #require(try weight?.constantValue?.floats())
        #expect(Array(values[..<4]) == [65504, -65504, 65504, 65504])
        options.precision = .float32
        let single = try checkpoint.export(to: scratch.path("n"), options: options)
        #expect(single.clamped.map(\.count) == [2])
        try checkpoint.setWeights(name, [.nan])
        let error = #expect(throws: ConversionError.self) {
            try checkpoint.export(to: scratch.path("o"), options: options)
        }
        #expect(error?.place == "tensor \(name)")
        #expect(try scratch.names() == ["m", "n"])
    }

    /// Without folding, batch normalizations are operations, and the package computes the same.
    @Test func folding() throws {
        var options = ExportOptions(size: 64)
        options.foldsBatchNorm = false
        let export = try Exported("mobile-unet", options)
        let types = export.package.program.operations.map(\.type)
        #expect(types.count { $0 == "batch_norm" } > 20)
        #expect(export.package.description.metadata.userDefined["retint.folded"] == "0")
        let found = try #require(try export.model.run(["input": export.lightness])["ab"])
        let folded = try Exported("mobile-unet", ExportOptions(size: 64))
        #expect(!folded.package.program.operations.contains { $0.type == "batch_norm" })
        #expect(try distance(found, try export.expected()) <= 1e-3)
    }

    /// Only a batch normalization directly after a convolution is folded: after ReLU, folding would
    /// not be exact.
    @Test func leavesNormalizationBehindReLU() throws {
        let export = try Exported("eccv16", ExportOptions(size: 64))
        let types = export.package.program.operations.map(\.type)
        #expect(types.count { $0 == "batch_norm" } == 7 && export.summary.foldedCount == 0)
    }

    @Test func refusesMissingWeights() throws {
        let error = try refusal(ExportOptions(size: 32)) { $0.state["head.0.weight"] = nil }
        #expect(error.place == "tensor head.0.weight")
    }

    /// The error of an export, which must not leave any files.
    private func refusal(
        _ options: ExportOptions, _ damage: (inout Checkpoint) throws -> Void = { _ in }
    ) throws -> ConversionError {
        let scratch = try TemporaryFolder()
        var checkpoint = try Self.checkpoint()
        try damage(&checkpoint)
        let error = #expect(throws: ConversionError.self) {
            try checkpoint.export(to: scratch.path("m.mlpackage"), options: options)
        }
        #expect(try scratch.names().isEmpty)
        #expect(error?.file == scratch.path("m.mlpackage"))
        return try #require(error)
    }
}

extension Checkpoint {
    /// Replaces the first values of a tensor.
    fileprivate mutating func setWeights(_ name: String, _ numbers: [Float]) throws {
        let tensor = try #require(state[name])
        var values = try #require(tensor.floats)
        values.replaceSubrange(..<numbers.count, with: numbers)
        state[name] = StoredTensor(shape: tensor.shape, floats: values)
    }
}
