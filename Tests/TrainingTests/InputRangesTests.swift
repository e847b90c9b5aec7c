import RetintArchitectures
import RetintCheckpoints
import RetintGraph
import RetintTestSupport
import Testing

@testable import RetintTraining

/// The ranges that the inputs of layers are rounded to (`quantization=w8a8`).
@Suite(.serialized) struct InputRangesTests {
    private let scratch: TemporaryFolder

    init() throws {
        scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
    }

    /// The checkpoint after a training in w8a8.
    private func trained(_ settings: String...) throws -> Checkpoint {
        let configuration = try scratch.configuration(
            ["quantization=w8a8", "optimizer.learning_rate=0.01"] + settings)
        #expect(try TrainingRun(configuration).run() == .finished)
        return try Checkpoint(contentsOf: "\(configuration.output)/last.h5")
    }

    private func ranges(_ checkpoint: Checkpoint) -> [String: Float] {
        checkpoint.variables.reduce(into: [:]) { ranges, variable in
            guard let weight = InputRounding.weight(ofRange: variable.key) else { return }
            ranges[weight] = variable.value.scalars[0]
        }
    }

    @Test func eachConvolutionHasOne() throws {
        let checkpoint = try trained()
        let weights = checkpoint.variables.filter { $0.value.shape.rank == 4 }.map(\.key)
        let ranges = ranges(checkpoint)
        #expect(ranges.keys.sorted() == weights.sorted())
        #expect(ranges.values.allSatisfy { (1e-3..<1e3).contains($0) })
        #expect(Set(ranges.values).count > 10)
        // The input of the network is (L − 50)/100.
        let first = try #require(ranges.first { $0.key.contains("stem") })
        #expect((0.2..<0.7).contains(first.value), "\(first)")
    }

    /// They are trained, and do not decay: that would make them nothing.
    @Test func theyLearnWithoutDecay() throws {
        let one = try trained("steps=1", "output=\(scratch.path)/one")
        let plain = try trained("output=\(scratch.path)/plain", "optimizer.weight_decay=0")
        let decayed = try trained("output=\(scratch.path)/decayed", "optimizer.weight_decay=10")
        let (first, last, other) = (ranges(one), ranges(plain), ranges(decayed))
        #expect(last.contains { abs($0.value - (first[$0.key] ?? 0)) > 0.01 })
        for (weight, range) in last {
            #expect(abs(range - (other[weight] ?? 0)) < 0.1 * range + 0.05, "\(weight)")
        }
        func norm(_ checkpoint: Checkpoint, _ name: String) -> Float {
            checkpoint.variables[name]?.scalars.reduce(0) { $0 + $1 * $1 } ?? 0
        }
        let name = try #require(last.keys.min())
        #expect(norm(decayed, name) < 0.5 * norm(plain, name))
    }

    /// A run without rounded inputs has none, whatever it starts from.
    @Test func aRunWithoutThemDropsThem() throws {
        _ = try trained("output=\(scratch.path)/first")
        let next = try scratch.configuration(
            "init=\(scratch.path)/first/last.h5", "steps=1", "output=\(scratch.path)/next")
        #expect(try TrainingRun(next).run() == .finished)
        #expect(ranges(try Checkpoint(contentsOf: "\(scratch.path)/next/last.h5")).isEmpty)
        // One with them goes on from them.
        let again = try trained(
            "init=\(scratch.path)/first/last.h5", "steps=1", "output=\(scratch.path)/again",
            "optimizer.learning_rate=1e-12")
        #expect(
            try ranges(again)
                == ranges(Checkpoint(contentsOf: "\(scratch.path)/first/last.h5")))
    }

    /// They are variables, which a run cannot gain or lose.
    @Test func aRunKeepsItsKind() throws {
        _ = try trained("steps=2")
        let other = try scratch.configuration("quantization=int8")
        let error = #expect(throws: TrainingError.self) {
            try TrainingRun(other, from: .resumed)
        }
        #expect(error?.kind == .cannotResume)
        #expect(error.map { "\($0)" }?.contains("start a new run with init=") == true)
    }

    @Test func foldedConvolutionsHaveNone() throws {
        let configuration = try scratch.configuration(
            "architecture=rep-unet", "quantization=w8a8", "data.crop=32")
        let error = #expect(throws: TrainingError.self) { try TrainingRun(configuration) }
        #expect(error?.place == "quantization")
        #expect(error.map { "\($0)" }?.contains("choose int8") == true)
    }
}
