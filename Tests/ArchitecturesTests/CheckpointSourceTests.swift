import Foundation
import RetintCheckpoints
import RetintFiles
import RetintGraph
import RetintTensorFiles
import RetintTensors
import RetintTestSupport
import Testing

/// Weights that are read from a checkpoint when they are needed.
@Suite struct CheckpointSourceTests {
    private let scratch = Result { try TemporaryFolder() }

    private func path(_ name: String = "checkpoint.h5") throws -> String {
        try scratch.get().path(name)
    }

    private func written(
        _ architecture: String = "pico-unet", seed: UInt64 = 1
    ) throws -> Checkpoint {
        var checkpoint = try Checkpoint(.named(architecture), seed: seed)
        let name = try #require(checkpoint.variables.keys.sorted().first)
        let values = try #require(checkpoint.variables[name])
        checkpoint.optimizer["optimizer.exp_avg.\(name)"] = StoredTensor(values)
        checkpoint.training = "{}"
        try checkpoint.write(to: path())
        return checkpoint
    }

    private func values(_ source: CheckpointSource) throws -> [String: TensorData] {
        try source.variables.mapValues { try $0.tensorData() }
    }

    @Test func filesGiveWhatWasWritten() throws {
        let checkpoint = try written()
        let source = try CheckpointSource(contentsOf: path())
        #expect(source.network == .named("pico-unet"))
        #expect(try values(source) == checkpoint.variables)
        #expect(try source.checkpoint() == Checkpoint(contentsOf: path()))
        #expect(try source.checkpoint() == checkpoint)
        #expect(!source.variables.values.contains { $0 is TensorData })
    }

    @Test func partsAreRead() throws {
        let checkpoint = try written()
        let source = try CheckpointSource(contentsOf: path())
        for (name, whole) in checkpoint.variables {
            let range = whole.scalars.count / 3..<whole.scalars.count
            var part = [Float](repeating: 0, count: range.count)
            try part.withUnsafeMutableBufferPointer { part in
                try source.variables[name]?.read(range, into: try #require(part.baseAddress))
            }
            #expect(part == Array(whole.scalars[range]), "\(name)")
        }
    }

    /// Values in other forms are converted once.
    @Test func otherTypesAreConverted() throws {
        var checkpoint = try written()
        let name = try #require(checkpoint.variables.keys.sorted().first)
        let halves = try #require(checkpoint.variables[name]).scalars.map { Float(Float16($0)) }
        let shape = try #require(checkpoint.variables[name]).shape
        checkpoint.state[name] = StoredTensor(shape: shape, floats: halves, storedType: .float16)
        try checkpoint.write(to: path())
        let source = try CheckpointSource(contentsOf: path())
        #expect(try source.variables[name]?.tensorData().scalars == halves)
    }

    @Test func newNetworksAreThoseOfTheSeed() throws {
        let source = try CheckpointSource(.named("pico-unet"), seed: 7)
        let checkpoint = try Checkpoint(.named("pico-unet"), seed: 7)
        #expect(try values(source) == checkpoint.variables)
        #expect(try source.checkpoint() == checkpoint)
        let other = try CheckpointSource(.named("pico-unet"), seed: 8)
        #expect(try values(other) != checkpoint.variables)
    }

    @Test func networksAreFolded() throws {
        let checkpoint = try written("rep-unet")
        let source = try CheckpointSource(contentsOf: path())
        #expect(try values(source.folded()) == checkpoint.folded().variables)
        let folded = try checkpoint.folded()
        #expect(try CheckpointSource(folded).folded().checkpoint() == folded)
        let plain = try CheckpointSource(.named("pico-unet"), seed: 1).folded()
        #expect(!plain.variables.values.contains { $0 is TensorData })
    }

    // MARK: Files that change

    private func expectChanged(_ source: CheckpointSource, _ phrase: String) throws {
        for (name, tensor) in source.variables {
            let error = #expect(throws: TensorFileError.self, "\(name)") {
                try tensor.tensorData()
            }
            #expect("\(try #require(error))".contains(phrase))
            #expect(error?.file == (try path()))
        }
    }

    @Test func aFileCutShortIsAnError() throws {
        _ = try written()
        let source = try CheckpointSource(contentsOf: path())
        #expect(truncate(try path(), 4096) == 0)
        var problems: Set<Bool> = []
        for tensor in source.variables.values {
            let error = #expect(throws: TensorFileError.self) { try tensor.tensorData() }
            problems.insert("\(try #require(error))".contains("it ends before byte"))
        }
        #expect(problems.contains(true))
        #expect(throws: TensorFileError.self) { try source.checkpoint() }
    }

    @Test func aFileThatIsWrittenToIsAnError() throws {
        _ = try written()
        let source = try CheckpointSource(contentsOf: path())
        let file = try FileHandle(forUpdating: URL(filePath: path()))
        try file.seekToEnd()
        try file.write(contentsOf: Data([0]))
        try file.close()
        try expectChanged(source, "it was changed while it was in use")
    }

    @Test func bytesThatAreReplacedInPlaceAreAnError() throws {
        _ = try written()
        let source = try CheckpointSource(contentsOf: path())
        // The size stays; file systems count time in steps of some milliseconds.
        usleep(20_000)
        let file = try FileHandle(forUpdating: URL(filePath: path()))
        try file.write(contentsOf: Data([0]))
        try file.close()
        try expectChanged(source, "it was changed while it was in use")
    }

    @Test func aFileThatIsReplacedKeepsItsWeights() throws {
        let checkpoint = try written()
        let source = try CheckpointSource(contentsOf: path())
        _ = try written(seed: 2)
        #expect(try values(source) == checkpoint.variables)
        #expect(try source.checkpoint() == checkpoint)
        try FileManager.default.removeItem(atPath: path())
        #expect(try values(source) == checkpoint.variables)
    }

    @Test func tensorsAreComparedWithTheNetworks() throws {
        var checkpoint = try written()
        let name = try #require(checkpoint.variables.keys.sorted().first)
        checkpoint.state[name] = nil
        checkpoint.state["other"] = StoredTensor(TensorData(scalar: 1))
        try checkpoint.write(to: path())
        let error = #expect(throws: CheckpointError.self) {
            try CheckpointSource(contentsOf: path())
        }
        let expected = #expect(throws: CheckpointError.self) {
            try Checkpoint(contentsOf: path())
        }
        #expect("\(try #require(error))" == "\(try #require(expected))")
    }
}
