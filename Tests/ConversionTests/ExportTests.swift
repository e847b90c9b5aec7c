import Checkpoints
import Conversion
import Foundation
import MLPackage
import TensorFiles
import TensorGraph
import Testing

@Suite struct ExportTests {
    private static func checkpoint() throws -> Checkpoint {
        try Checkpoint(architecture: "mobile-unet", options: ["width": "0.25"], seed: 1)
    }

    @Test(arguments: ExportOptions.Target.allCases, ExportOptions.Precision.allCases)
    func sameBytes(_ target: ExportOptions.Target, _ precision: ExportOptions.Precision) throws {
        let scratch = try Scratch()
        let options = ExportOptions(precision: precision, target: target, size: 32)
        for name in ["first", "second"] {
            try exportPackage(try Self.checkpoint(), to: scratch.path(name), options: options)
        }
        let first = try contents(ofPackage: scratch.path("first"))
        #expect(first.count >= 3)
        #expect(try first == contents(ofPackage: scratch.path("second")))
    }

    @Test func metadata() throws {
        let scratch = try Scratch()
        var options = ExportOptions(precision: .float16, target: .iOS17, size: 32)
        (options.author, options.license) = ("Somebody", "MIT")
        let checkpoint = try Self.checkpoint()
        let summary = try exportPackage(checkpoint, to: scratch.path("m"), options: options)
        let package = try MLPackage(contentsOf: scratch.path("m"))
        let metadata = package.description.metadata
        #expect(package.target == .iOS17)
        #expect(metadata.author == "Somebody" && metadata.license == "MIT")
        #expect(
            metadata.userDefined == [
                "retint.architecture": "mobile-unet", "retint.options": "width=0.25",
                "retint.precision": "float16",
                "retint.checkpoint": weightsHash(checkpoint.variables),
            ])
        #expect(summary.checkpointHash.count == 64)
    }

    @Test func hash() {
        // Of the bytes 00 00 80 3f 00 00 00 c0.
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
            guard let tensor = checkpoint.state[name], var values = tensor.floats else { return }
            values[3] = bad.value
            checkpoint.state[name] = StoredTensor(shape: tensor.shape, floats: values)
        }
        #expect(error.place == "tensor \(name)")
        #expect(error.remedy.contains(bad.remedy))
    }

    @Test func refusesMissingWeights() throws {
        let error = try refusal(ExportOptions(size: 32)) { $0.state["head.0.weight"] = nil }
        #expect(error.place == "tensor head.0.weight")
    }

    /// The error of an export, which leaves nothing behind.
    private func refusal(
        _ options: ExportOptions, _ damage: (inout Checkpoint) -> Void = { _ in }
    ) throws -> ConversionError {
        let scratch = try Scratch()
        var checkpoint = try Self.checkpoint()
        damage(&checkpoint)
        let error = #expect(throws: ConversionError.self) {
            try exportPackage(checkpoint, to: scratch.path("m.mlpackage"), options: options)
        }
        #expect(try scratch.names().isEmpty)
        #expect(error?.file == scratch.path("m.mlpackage"))
        return try #require(error)
    }
}
