import Foundation
import RetintCheckpoints
import RetintEngine
import RetintGraph
import RetintLayers
import RetintONNXReading
import RetintTensorFiles
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintArchitectures

/// Networks that are read from ONNX files.
@Suite struct ImportedNetworkTests {
    private struct Recorded: Decodable {
        let outputs: [String: Golden.Sample]
        let training: Golden.Training

        static func load() throws -> Recorded { try decodeGolden("imported.json") }
    }

    private let scratch = Result { try TemporaryFolder() }

    private func imported(_ name: String) throws -> Checkpoint {
        try Checkpoint.importing(onnx: goldenPath("imported-\(name).onnx")).checkpoint
    }

    private var lightness: TensorData { Seeded.input("lightness", [1, 1, 40, 48], 0...100) }

    // MARK: What torch's exporters write

    @Test(arguments: ["traced", "folded", "dynamo", "fixed"])
    func colorsAreThoseOfONNXRuntime(_ name: String) throws {
        let found = try imported(name).colors(of: lightness)
        let difference = try #require(try Recorded.load().outputs[name]).difference(from: found)
        #expect(found.shape == [1, 2, 40, 48])
        #expect(difference.max <= 1e-4 && difference.mean <= 1e-5, "\(difference)")
    }

    @Test func normalizationsTrainAsInPyTorch() throws {
        try Recorded.load().training.expectLosses(of: imported("traced").network.make())
    }

    @Test func parametersHaveTheNamesInTheFile() throws {
        let names = try imported("traced").state.names
        #expect(
            names == [
                "stem.0.weight", "stem.1.weight", "stem.1.bias", "down.0.weight", "down.0.bias",
                "down.1.weight", "down.1.bias", "down.3.weight", "head.0.weight", "head.0.bias",
                "stem.1.running_mean", "stem.1.running_var", "down.1.running_mean",
                "down.1.running_var",
            ])
        let spec = StateSpec(of: try imported("traced").network.make())
        #expect(spec.entries.count { $0.kind == .buffer } == 4)
    }

    @Test func sizesAreFoundByTrying() throws {
        for name in ["traced", "folded", "dynamo"] {
            #expect(try imported(name).network.definition?.sizes == .multiples(of: 2), "\(name)")
        }
        #expect(try imported("fixed").network.definition?.sizes == .only(height: 40, width: 48))
        let network = try imported("fixed").network.make()
        #expect(network.onlySize == Pair(40, 48))
        let graph = Graph(mode: .inference)
        _ = network(graph.input("lightness", [1, 1, 48, 40]))
        #expect("\(try #require(graph.error))".contains("a height of 40 and a width of 48"))
    }

    // MARK: Files of checkpoints

    @Test(arguments: ["traced", "folded", "dynamo", "fixed"])
    func checkpointsHoldTheNetwork(_ name: String) throws {
        let checkpoint = try imported(name)
        let path = try scratch.get().path("a.h5")
        try checkpoint.write(to: path)
        let read = try Checkpoint(contentsOf: path)
        #expect(read == checkpoint)
        #expect(try read.network.definition?.bytes() == checkpoint.network.definition?.bytes())
        #expect(try read.colors(of: lightness) == checkpoint.colors(of: lightness))
        let source = try CheckpointSource(contentsOf: path)
        #expect(try source.network.make().requiredMultiple == (name == "fixed" ? 1 : 2))
        #expect(try Checkpoint(contentsOf: goldenPath("imported-\(name).onnx")) == checkpoint)
    }

    @Test func averagesAreOfOneNetwork() throws {
        let (one, other) = (try imported("folded"), try imported("dynamo"))
        let mean = try Checkpoint.average([("a.h5", one), ("b.h5", one)])
        #expect(mean == one)
        let error = #expect(throws: CheckpointError.self) {
            try Checkpoint.average([("a.h5", one), ("b.h5", other)])
        }
        #expect(error?.kind == .differentNetworks)
        #expect(error?.problem.contains("another imported network") == true)
    }

    /// Each damage to the definition in a checkpoint is an error that says so.
    @Test func damagedDefinitionsAreRefused() throws {
        let checkpoint = try imported("folded")
        let bytes = try #require(try checkpoint.network.definition?.bytes())
        let changes: [(StoredTensor?, String)] = [
            (nil, "must have 1 to 16777216 bytes, not 0"),
            (StoredTensor(shape: [2], floats: [1, 2]), "does not contain bytes"),
            (StoredTensor(shape: [2], integers: [1, 256]), "does not contain bytes"),
            (stored(Array(bytes.dropLast(9))), "is not an ONNX model"),
            (stored(Array(bytes.dropFirst(40))), "ONNX"),
            (stored(changed(bytes, "retint.sizes", "retint.sizez")), "how the network is used"),
            (stored(changed(bytes, "retint.colors", "retint.colorz")), "how the network is used"),
            (stored(changed(bytes, "head.0.weight", "head.0.weighs")), "head.0.weigh"),
        ]
        for (definition, words) in changes {
            let path = try scratch.get().path("damaged.h5")
            try write(checkpoint, definition, to: path)
            let error = #expect(throws: CheckpointError.self, "\(words)") {
                try Checkpoint(contentsOf: path)
            }
            #expect(error?.file == path)
            #expect(error?.problem.contains(words) == true, "\(error?.problem ?? "")")
        }
    }

    /// Options would not change what an imported network computes.
    @Test func importedNetworksTakeNoOptions() throws {
        let (checkpoint, path) = (try imported("folded"), try scratch.get().path("options.h5"))
        let definition = stored(try #require(try checkpoint.network.definition?.bytes()))
        try write(checkpoint, definition, to: path)
        #expect(try Checkpoint(contentsOf: path) == checkpoint)
        try write(checkpoint, definition, options: ["width": "0.5"], to: path)
        let error = #expect(throws: CheckpointError.self) { try Checkpoint(contentsOf: path) }
        #expect(error?.file == path)
        #expect(error?.description.contains("the option \"width\"") == true)
    }

    private func stored(_ bytes: [UInt8]) -> StoredTensor {
        StoredTensor(shape: [bytes.count], bytes: bytes)
    }

    /// The bytes with one text in place of another of the same length.
    private func changed(_ bytes: [UInt8], _ old: String, _ new: String) -> [UInt8] {
        var data = Data(bytes)
        while let range = data.range(of: Data(old.utf8)) {
            data.replaceSubrange(range, with: Data(new.utf8))
        }
        return [UInt8](data)
    }

    /// Writes a checkpoint's file with another definition.
    private func write(
        _ checkpoint: Checkpoint, _ definition: StoredTensor?, options: [String: String] = [:],
        to path: String
    ) throws {
        let writer = try HDF5Writer(path: path)
        try writer.setAttribute("retint_checkpoint", to: .integer(1))
        try writer.setAttribute("architecture", to: .string("onnx"))
        for (name, text) in options {
            try writer.setAttribute("option.\(name)", to: .string(text))
        }
        if let definition { try writer.write(definition, to: "retint/definition") }
        for (name, tensor) in checkpoint.state { try writer.write(tensor, to: name) }
        try writer.finish()
    }

    @Test func aNetworkWithoutDefinitionIsRefused() throws {
        let error = #expect(throws: ColorizerError.self) {
            try NetworkDescription.named("onnx").make()
        }
        #expect(error?.kind == .needsDefinition("onnx"))
        #expect(error?.description.contains("start from its checkpoint") == true)
    }
}

extension Checkpoint {
    /// The colors, [N, 2, H, W], of lightness, [N, 1, H, W].
    func colors(of lightness: TensorData) throws -> TensorData {
        let graph = Graph(mode: .inference)
        let network = try self.network.make()
        let ab = network(graph.input("lightness", lightness.shape))
        let program = try Program(outputs: [("ab", ab)])
        try program.load(variables)
        return try #require(try program.run(["lightness": lightness])["ab"])
    }
}
