import RetintGraph
import RetintTensors
import Testing

@testable import RetintEngine

/// Weights that are in memory only while they are laid out.
@Suite struct ReleasedWeightsTests {
    private let x = TensorData(shape: [1, 64, 16, 16], scalars: Self.noise(64 * 256, 1))
    private let weights = [
        "w": TensorData(shape: [64, 64, 3, 3], scalars: Self.noise(64 * 64 * 9, 2)),
        "offset": TensorData(shape: [64, 1, 1], scalars: Self.noise(64, 3)),
    ]

    private static func noise(_ count: Int, _ seed: Int) -> [Float] {
        (0..<count).map { Float(($0 * 7919 + seed * 104_729) % 1009) / 1009 - 0.5 }
    }

    private func program(
        releases: Bool, winograd: CompileOptions.Winograd = .wherePossible
    ) throws -> Program {
        let graph = Graph()
        let y = conv2d(
            graph.input("x", [1, 64, 16, 16]),
            weight: graph.variable("w", [64, 64, 3, 3], role: .parameter), padding: 1)
        var options = CompileOptions(threads: 2, winograd: winograd)
        options.releasesWeights = releases
        let sum = y + graph.variable("offset", [64, 1, 1], role: .parameter)
        let program = try Program(outputs: [("y", sum)], options: options)
        try program.load(weights)
        return program
    }

    @Test(arguments: [CompileOptions.Winograd.wherePossible, .never])
    func resultsAreTheSame(_ winograd: CompileOptions.Winograd) throws {
        let plain = try program(releases: false, winograd: winograd)
        let releasing = try program(releases: true, winograd: winograd)
        let expected = try plain.run(["x": x])
        for _ in 0..<2 { #expect(try releasing.run(["x": x]) == expected) }
        #expect(plain.value(of: "w") == weights["w"])
        #expect(releasing.value(of: "w") == nil)
        // Each run reads it.
        #expect(releasing.value(of: "offset") == weights["offset"])
        try releasing.load(weights)
        #expect(try releasing.run(["x": x]) == expected)
    }

    @Test func whatIsNotKeptHasToBeLoaded() throws {
        let program = try program(releases: true)
        let expected = try program.run(["x": x])
        let offset = ["offset": TensorData(shape: [64, 1, 1], repeating: 3)]
        let error = #expect(throws: GraphError.self) { try program.load(offset) }
        #expect(error?.reason.contains("variable w is in memory only while") == true)
        #expect(try program.run(["x": x]) == expected)
        #expect(program.value(of: "offset") == weights["offset"])
        try program.load(weights.merging(offset) { $1 })
        #expect(try program.run(["x": x]) != expected)
    }

    /// Between loading and running, weights lie where a run has its values.
    @Test func memoryIsShared() throws {
        // The weights are larger than x and y.
        let difference = 64 * (64 * 9 - 2 * 256) * MemoryLayout<Float>.size
        let bytes = try [true, false].map { try program(releases: $0).arenaBytes }
        #expect(bytes[0] - bytes[1] == difference)
    }

    /// Several weights one after another, in one place; what is computed from one beside it.
    @Test func weightsTakeTurns() throws {
        let graph = Graph()
        var y = graph.input("x", [1, 64, 16, 16])
        var values: [String: TensorData] = [:]
        for layer in 0..<4 {
            let w = graph.variable("w\(layer)", [64, 64, 3, 3], role: .parameter)
            values["w\(layer)"] = TensorData(
                shape: [64, 64, 3, 3], scalars: Self.noise(64 * 64 * 9, layer))
            y = conv2d(y, weight: layer == 2 ? w * 0.5 + 0.01 : w, padding: 1)
        }
        var results: [TensorData?] = []
        for (releases, threads) in [(false, 2), (true, 2), (true, 1)] {
            var options = CompileOptions(threads: threads, winograd: .wherePossible)
            options.releasesWeights = releases
            let program = try Program(outputs: [("y", y)], options: options)
            try program.load(values)
            for _ in 0..<2 { results.append(try program.run(["x": x])["y"]) }
            try program.load(values)
            results.append(try program.run(["x": x])["y"])
        }
        #expect(Set(results).count == 1)
    }

    // MARK: Sources

    private struct Unreadable: Error {}

    @Test(arguments: [true, false])
    func aSourceThatCannotBeReadIsAnError(_ releases: Bool) throws {
        let program = try program(releases: releases)
        let expected = try program.run(["x": x])
        var sources: [String: any TensorSource] = weights
        sources["w"] = ComputedTensor(shape: [64, 64, 3, 3]) { throw Unreadable() }
        #expect(throws: Unreadable.self) { try program.load(sources) }
        sources["w"] = FailingParts(shape: [64, 64, 3, 3])
        #expect(throws: Unreadable.self) { try program.load(sources) }
        try program.load(weights)
        #expect(try program.run(["x": x]) == expected)
    }

    /// A source of which one part cannot be read.
    private struct FailingParts: TensorSource {
        let shape: Shape

        func read(_ range: Range<Int>, into target: UnsafeMutablePointer<Float>) throws {
            if range.contains(30 * 64 * 9) { throw Unreadable() }
            target.initialize(repeating: 0, count: range.count)
        }
    }

    @Test func sourcesAreReadInParts() throws {
        let shapes: [Shape] = [
            [3, 5, 7, 2], [70_000], [2, 40_000, 2, 1], [300, 300, 1, 1], .scalar,
        ]
        for shape in shapes {
            let data = TensorData(shape: shape, scalars: Self.noise(shape.count, 4))
            let graph = Graph()
            let sum = graph.variable("v", shape, role: .setting) + graph.input("x", .scalar)
            let program = try Program(outputs: [("y", sum)], options: .init(threads: 2))
            let source = ComputedTensor(shape: shape) { data }
            try program.load(["v": source] as [String: any TensorSource])
            #expect(program.value(of: "v") == data)
        }
    }

    /// Weights that are laid out, and read as they are in each run.
    @Test func whatRunsReadIsKept() throws {
        let graph = Graph()
        let w = graph.variable("w", [64, 64, 3, 3], role: .parameter)
        let y = conv2d(graph.input("x", [1, 64, 16, 16]), weight: w, padding: 1)
        var options = CompileOptions(threads: 2, winograd: .wherePossible)
        options.releasesWeights = true
        let scaled = w * graph.input("scale", .scalar)
        let program = try Program(outputs: [("y", y), ("scaled", scaled)], options: options)
        try program.load(weights)
        let results = try program.run(["x": x, "scale": TensorData(scalar: 2)])
        #expect(results["scaled"]?.scalars == weights["w"]?.scalars.map { 2 * $0 })
        #expect(program.value(of: "w") == weights["w"])
    }
}
