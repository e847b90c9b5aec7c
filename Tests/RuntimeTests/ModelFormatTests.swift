import Foundation
import RetintCheckpoints
import RetintFiles
import RetintTensorFiles
import RetintTestSupport
import Testing

/// The table of file formats.
@Suite struct ModelFormatTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private func makeFolder(_ name: String, with file: String? = nil) throws {
        try FileManager.default.createDirectory(
            atPath: scratch.path(name), withIntermediateDirectories: true)
        guard let file else { return }
        FileManager.default.createFile(atPath: scratch.path("\(name)/\(file)"), contents: nil)
    }

    @Test func kindsAreDifferent() {
        let kinds = ModelFormat.all.map(\.kind)
        #expect(
            kinds == [
                "mlpackage", "mlmodelc", "mlmodel", "aimodel", "onnx", "checkpoint", "hdf5",
                "safetensors", "pytorch",
            ])
    }

    /// Folders are packages, or Core AI models by name or by content; files are told by content,
    /// ONNX by its name alone.
    @Test func filesAreRecognized() throws {
        let checkpoint = try Checkpoint(.named("pico-unet"), seed: 1)
        try checkpoint.write(to: scratch.path("checkpoint.bin"))
        try checkpoint.state.write(to: scratch.path("weights.h5"))
        try checkpoint.state.write(to: scratch.path("weights.safetensors"))
        try checkpoint.write(to: scratch.path("named.ONNX"))
        try makeFolder("m.mlpackage")
        try makeFolder("empty")
        try makeFolder("m.aimodel")
        try makeFolder("renamed.mlpackage", with: "main.mlirb")
        try makeFolder("m.mlmodelc")
        try makeFolder("renamed", with: "model.mil")
        FileManager.default.createFile(atPath: scratch.path("m.mlmodel"), contents: nil)
        let expected: [String: ModelFormat] = [
            "checkpoint.bin": .checkpoint, "weights.h5": ModelFormat(.hdf5),
            "weights.safetensors": ModelFormat(.safetensors), "named.ONNX": .onnx,
            "m.mlpackage": .coreML, "m.mlpackage#small": .coreML, "empty": .coreML,
            "m.aimodel": .coreAI, "renamed.mlpackage": .coreAI, "m.mlmodelc": .compiled,
            "renamed": .compiled, "m.mlmodel": .neuralNetwork,
        ]
        for (name, format) in expected {
            #expect(try ModelFormat(ofFileAt: scratch.path(name)) == format, "\(name)")
        }
        // What is no other model is a checkpoint, whose reader says what is wrong.
        #expect(try ModelFormat(ofModelAt: scratch.path("weights.safetensors")) == .checkpoint)
        #expect(throws: FileError.self) { try ModelFormat(ofFileAt: scratch.path("absent")) }
        #expect(throws: FileError.self) { try ModelFormat(ofModelAt: scratch.path("absent")) }
    }

    @Test(arguments: [
        ("a.mlpackage", "mlpackage"), ("a.AIMODEL", "aimodel"), ("a.onnx", "onnx"),
        ("a.h5", "hdf5"), ("a.hdf5", "hdf5"), ("a.safetensors", "safetensors"), ("a.pth", nil),
        ("a", nil), ("onnx", nil),
    ])
    func outputsAreNamed(_ name: String, _ kind: String?) {
        #expect(ModelFormat(ofOutput: name)?.kind == kind)
    }

    /// A folder with anything else is not replaced by a package.
    @Test(arguments: [ModelFormat.coreML, .coreAI])
    func otherFoldersAreNotReplaced(_ format: ModelFormat) throws {
        try makeFolder("new")
        try format.checkReplaceable(at: scratch.path("new"))
        try makeFolder("photos", with: "a.jpg")
        #expect(throws: FileError.self) {
            try format.checkReplaceable(at: scratch.path("photos"))
        }
    }
}
