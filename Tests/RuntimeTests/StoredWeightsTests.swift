import Foundation
import RetintCheckpoints
import RetintTensorFiles
import RetintTestSupport
import Testing

@testable import RetintEngine
@testable import RetintRuntime

/// Models whose weights are read from a file when they are compiled.
@Suite struct StoredWeightsTests {
    private func colors(_ model: Model) throws -> [Float] {
        let program = try model.program(height: 32, width: 32)
        return try program.predict(lightness: (0..<1024).map { Float($0 % 101) }).scalars
    }

    @Test(arguments: ["pico-unet", "rep-unet", "lite-class-unet"])
    func colorsAreThoseOfWeightsInMemory(_ architecture: String) throws {
        let scratch = try TemporaryFolder()
        let checkpoint = try Checkpoint(.named(architecture), seed: 3)
        try checkpoint.write(to: scratch.path("model.h5"))
        let model = try Model(contentsOf: scratch.path("model.h5"))
        let expected = try colors(Model(checkpoint))
        #expect(try colors(model) == expected)
        let source = try CheckpointSource(.named(architecture), seed: 3)
        #expect(try colors(Model(source)) == expected)
        #expect(try model.fingerprint() == Model(checkpoint).fingerprint())
        // Another file at the same path changes nothing.
        try Checkpoint(.named(architecture), seed: 4).write(to: scratch.path("model.h5"))
        #expect(try colors(model) == expected)
    }

    /// Half as large, and what it computes is what rounded weights compute in memory.
    @Test(arguments: ["pico-unet", "rep-unet", "lite-class-unet"])
    func weightsOfFloat16BecomeFloat32(_ architecture: String) throws {
        let scratch = try TemporaryFolder()
        let checkpoint = try Checkpoint(architecture: architecture, seed: 3)
        let (half, full) = (scratch.path("half.h5"), scratch.path("full.h5"))
        try checkpoint.write(to: full)
        try checkpoint.write(to: half, as: .float16)
        #expect(try Double(byteCount(half)) < 0.75 * Double(byteCount(full)))
        let reader = try HDF5Reader(path: half)
        var rounded = checkpoint
        for (name, tensor) in checkpoint.state {
            let isHalf = tensor.shape.rank > 1 && tensor.floats != nil
            #expect(try reader.storedType(of: name) == (isHalf ? .float16 : tensor.storedType))
            guard isHalf, let floats = tensor.floats else { continue }
            rounded.state[name] = StoredTensor(
                shape: tensor.shape, floats: floats.map { Float(Float16($0)) })
        }
        #expect(try Checkpoint(contentsOf: half) == rounded)
        #expect(try colors(Model(contentsOf: half)) == colors(Model(rounded)))
        #expect(try Model(contentsOf: half).fingerprint() == Model(rounded).fingerprint())
    }

    private func byteCount(_ path: String) throws -> Int {
        try Data(contentsOf: URL(filePath: path)).count
    }

    @Test func refusesWeightsThatFloat16DoesNotHold() throws {
        let scratch = try TemporaryFolder()
        var checkpoint = try Checkpoint(.named("pico-unet"), seed: 3)
        let (name, tensor) = try #require(checkpoint.state.first { $1.shape.rank > 1 })
        var floats = try #require(tensor.floats)
        floats[0] = 70000
        checkpoint.state[name] = StoredTensor(shape: tensor.shape, floats: floats)
        let error = #expect(throws: CheckpointError.self) {
            try checkpoint.write(to: scratch.path("half.h5"), as: .float16)
        }
        #expect(error?.description.contains("70000.0, a value of \(name)") == true)
        #expect(!FileManager.default.fileExists(atPath: scratch.path("half.h5")))
    }

    @Test func aFileThatIsWrittenToIsRefusedAndHarmsNoProgram() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("model.h5")
        try Checkpoint(.named("pico-unet"), seed: 3).write(to: path)
        let model = try Model(contentsOf: path)
        let program = try model.program(height: 32, width: 32)
        let lightness = (0..<1024).map { Float($0 % 101) }
        let expected = try program.predict(lightness: lightness)
        #expect(truncate(path, 100) == 0)
        #expect(try program.predict(lightness: lightness) == expected)
        let error = #expect(throws: TensorFileError.self) {
            try model.program(height: 64, width: 64)
        }
        #expect(error?.file == path)
    }
}
