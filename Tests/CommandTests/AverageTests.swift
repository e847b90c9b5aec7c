import RetintCheckpoints
import RetintCommandSupport
import RetintTensorFiles
import RetintTestSupport
import Testing

@Suite(.sampled()) struct AverageTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    private func checkpoint(_ seed: UInt64, width: Double = 0.25) throws -> Checkpoint {
        try Checkpoint(.named("mobile-unet", .init(width: width)), seed: seed)
    }

    @Test func everyNumberIsTheMean() throws {
        let all = try (1...3).map { try checkpoint(UInt64($0)) }
        for (index, one) in all.enumerated() { try one.write(to: bench.path("\(index).h5")) }
        try bench.expect(0, "average", "0.h5", "1.h5", "2.h5", "-o", "mean.h5")
        let mean = try Checkpoint(contentsOf: bench.path("mean.h5"))
        #expect(mean.network == all[0].network && mean.training == nil)
        #expect(mean.state.names == all[0].state.names)
        for (name, tensor) in mean.variables {
            let parts = try all.map { try #require($0.variables[name]).scalars }
            for (index, value) in tensor.scalars.enumerated() {
                let sum = parts.reduce(0) { $0 + Double($1[index]) }
                #expect(value == Float(sum / 3), "\(name)")
            }
        }
    }

    @Test func brokenWeightsAreNamed() throws {
        var broken = try checkpoint(1)
        let name = try #require(broken.variables.keys.min())
        let tensor = try #require(broken.variables[name])
        var values = tensor.scalars
        values[0] = .nan
        broken.state[name] = StoredTensor(shape: tensor.shape, floats: values)
        try checkpoint(2).write(to: bench.path("whole.h5"))
        try broken.write(to: bench.path("broken.h5"))
        try bench.expect(
            65, "average", "whole.h5", "broken.h5", "-o", "mean.h5",
            says: ["broken.h5: ", name, "NaN or infinite"])
        try bench.expect(
            0, "import", "broken.h5", "-o", "imported.h5",
            says: [
                "broken.h5: NaN or infinite values in \(name); the network would not produce colors"
            ])
    }

    @Test func differentNetworksAreRefused() throws {
        try checkpoint(1).write(to: bench.path("narrow.h5"))
        try checkpoint(1, width: 0.5).write(to: bench.path("wide.h5"))
        try bench.expect(
            65, "average", "narrow.h5", "wide.h5", "-o", "mean.h5",
            says: ["wide.h5: contains mobile-unet", "average trainings of one network"])
        try bench.expect(64, "average", "narrow.h5", "-o", "mean.h5", says: ["two checkpoints"])
        try bench.expect(
            64, "average", "narrow.h5", "narrow.h5", "-o", "narrow.h5", says: ["is the input"])
        #expect(bench.files == ["narrow.h5", "wide.h5"])
    }
}
