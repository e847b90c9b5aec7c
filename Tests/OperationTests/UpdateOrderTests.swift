import RetintGraph
import RetintTensors
import Testing

@testable import RetintEngine

/// Updates of large variables, which run before the step is done.
@Suite struct UpdateOrderTests {
    private static let side = 512
    private static let names = ["w0", "w1", "w2", "w3"]

    private static func noise(_ count: Int, _ seed: Int) -> [Float] {
        (0..<count).map { (Float(($0 * 7919 + seed * 104_729) % 1009) / 1009 - 0.5) / 8 }
    }

    private let x = TensorData(shape: [8, side], scalars: noise(8 * side, 9))
    private let weights = Dictionary(
        uniqueKeysWithValues: names.enumerated().map { index, name in
            (name, TensorData(shape: [side, side], scalars: noise(side * side, index)))
        })

    /// Four products in a row, and one step of gradient descent.
    private func program(
        returnsGradients: Bool, on device: Execution.Device = .cpu
    ) throws -> Program {
        let graph = Graph(mode: .training)
        let variables = Self.names.map { name in
            graph.variable(name, [Self.side, Self.side], role: .parameter)
        }
        let y = variables.reduce(graph.input("x", [8, Self.side])) { matmul($0, $1) }
        let loss = (y * y).sum()
        let gradients = try gradients(of: loss, withRespectTo: variables)
        for (variable, gradient) in zip(variables, gradients) {
            graph.update(variable, to: variable - gradient * 0.25)
        }
        let shown = returnsGradients ? Array(zip(Self.names, gradients)) : []
        var options = CompileOptions(threads: 2)
        options.device = device
        let program = try Program(
            outputs: [("loss", loss)] + shown.map { (name: $0.0, value: $0.1) }, options: options)
        try program.load(weights)
        return program
    }

    @Test func gradientsAreNotKept() throws {
        let gradientBytes = Self.side * Self.side * MemoryLayout<Float>.size
        #expect(try program(returnsGradients: true).arenaBytes >= 4 * gradientBytes)
        #expect(try program(returnsGradients: false).arenaBytes < 3 * gradientBytes)
    }

    /// Whether the step that computes a gradient also updates the variable, or another one does.
    @Test(arguments: Execution.Device.allCases)
    func resultsAreTheSame(_ device: Execution.Device) throws {
        let plain = try program(returnsGradients: false, on: device)
        let keeping = try program(returnsGradients: true, on: device)
        for _ in 0..<2 {
            let results = try keeping.run(["x": x])
            #expect(try plain.run(["x": x])["loss"] == results["loss"])
            for name in Self.names {
                let new = try #require(plain.value(of: name))
                #expect(new != weights[name])
                #expect(new == keeping.value(of: name), "\(name)")
            }
        }
    }

    /// The old value is needed after the new one, so that the update cannot run early.
    @Test func oldValuesOutliveTheirUpdate() throws {
        let graph = Graph(mode: .training)
        let w = graph.variable("w", [Self.side, Self.side], role: .parameter)
        let next = w * 0.5 + 1
        graph.update(w, to: next)
        let program = try Program(outputs: [("product", matmul(next, w))])
        let start = try #require(weights["w0"])
        try program.load(["w": start])
        let half = TensorData(shape: start.shape, scalars: start.scalars.map { $0 * 0.5 + 1 })
        let reference = Graph()
        let product = matmul(
            reference.input("a", start.shape), reference.input("b", start.shape))
        let expected = try Program(outputs: [("product", product)])
            .run(["a": half, "b": start])
        #expect(try program.run() == expected)
        #expect(program.value(of: "w") == half)
    }

    /// A part of a variable that its own update reads, and one that another update needs.
    @Test(arguments: [1, 2, 3])
    func partsOfVariablesAreRead(threads: Int) throws {
        let graph = Graph(mode: .training)
        let v = graph.variable("v", [400, 30], role: .parameter)
        let first = graph.variable("first", [2, 30], role: .parameter)
        graph.update(v, to: v * 0.5 + v.sliced(axis: 0, 0..<1))
        graph.update(first, to: v.sliced(axis: 0, 0..<2))
        let program = try Program(
            outputs: [("end", v.sliced(axis: 0, 398..<400))],
            options: CompileOptions(threads: threads))
        let values = Self.noise(12_000, 1)
        try program.load([
            "v": TensorData(shape: [400, 30], scalars: values),
            "first": TensorData(shape: [2, 30], scalars: Self.noise(60, 2)),
        ])
        let end = try #require(try program.run([:])["end"]).scalars
        #expect(end == Array(values.suffix(60)))
        #expect(program.value(of: "first")?.scalars == Array(values.prefix(60)))
        let expected = values.indices.map { values[$0] * 0.5 + values[$0 % 30] }
        #expect(program.value(of: "v")?.scalars == expected)
    }
}
