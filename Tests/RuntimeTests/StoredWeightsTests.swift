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
        #expect(error?.path == path)
    }
}
