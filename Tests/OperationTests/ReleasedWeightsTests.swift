import TensorGraph
import Testing

@testable import Engine

/// Weights whose memory is given back once they are laid out.
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
        #expect(releasing.value(of: "w") == weights["w"])
        #expect(try releasing.run(["x": x]) == expected)
    }

    @Test func whatWasGivenBackHasToBeLoaded() throws {
        let program = try program(releases: true)
        let offset = weights.filter { $0.key == "offset" }
        try program.load(offset)
        let expected = try program.run(["x": x])
        let error = #expect(throws: GraphError.self) { try program.load(offset) }
        #expect(error?.reason.contains("variable w was given back") == true)
        #expect(try program.run(["x": x]) == expected)
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

    @Test func memoryIsGivenBack() throws {
        // Mapped, and on the heap.
        for count in [2 << 20, 1 << 16] {
            let storage = try #require(Storage(kind: .owned, count: count))
            storage.pointer.update(repeating: 1, count: count)
            storage.release()
            #expect(storage.pointer[count / 2] == 0)
            storage.pointer[count / 2] = 2
            #expect(storage.pointer[count / 2] == 2)
        }
    }
}
