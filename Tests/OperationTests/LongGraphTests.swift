import RetintGraph
import Testing

@testable import RetintEngine

/// Graphs of very many operations compile and run: no part of the compiler searches the whole graph
/// for each operation, or recurses through it.
@Suite struct LongGraphTests {
    private static let length = 50_000

    @Test func elementwiseChain() throws {
        let steps = try compile { x, index in index.isMultiple(of: 2) ? tanh(x) : x * 0.5 + 1 }
        #expect(steps.count < 1000, "elementwise operations are fused")
    }

    @Test func chainOfKernels() throws {
        let steps = try compile { x, index in
            index.isMultiple(of: 2) ? softmax(x, axis: 1) : x.transposed([1, 0])
        }
        #expect(steps.count >= Self.length)
    }

    /// Each operation needs the first value too, from which all others can be reached.
    @Test func chainWithSkips() throws {
        let graph = Graph()
        let first = softmax(graph.input("x", [2, 3]), axis: 0)
        var y = first
        for _ in 0..<Self.length / 2 { y = softmax(y, axis: 1) + first }
        #expect(try stepNames(y).count == Self.length / 2 + 1)
    }

    /// Very many operations that depend on one value alone.
    @Test func manyConsumers() throws {
        let graph = Graph()
        let x = graph.input("x", [2, 3])
        let parts = (0..<Self.length).map { softmax(x * Float($0), axis: 1) }
        _ = try stepNames(concat(parts, axis: 0))
    }

    @Test(arguments: [false, true])
    func trainingStep(recomputes: Bool) throws {
        let graph = Graph(mode: .training)
        var y = graph.input("x", [2, 3])
        for index in 0..<Self.length / 10 {
            let scale = graph.variable("scale \(index)", [3], role: .parameter)
            y = softmax(tanh(y * scale) + y, axis: 1)
        }
        let scales = graph.variables(.parameter)
        let found = try gradients(of: (y * y).sum(), withRespectTo: scales)
        for (scale, gradient) in zip(scales, found) {
            graph.update(scale, to: scale - gradient * 0.1)
        }
        var options = CompileOptions(threads: 1)
        options.recomputes = recomputes
        let program = try Program(outputs: [("y", y)], options: options)
        #expect(program.stepNames.count > Self.length / 10)
    }

    /// A large elementwise expression that is recomputed as a whole.
    @Test func longRecomputedExpression() throws {
        let graph = Graph(mode: .training)
        let x = graph.variable("x", [128, 128], role: .parameter)
        var y = softmax(x, axis: 0)
        for _ in 0..<Self.length { y = y + 1 }
        let loss = (y * y).sum()
        graph.update(x, to: try gradients(of: loss, withRespectTo: [x])[0])
        var options = CompileOptions(threads: 1)
        options.recomputes = true
        #expect(try Program(outputs: [("loss", loss)], options: options).stepNames.count > 1)
    }

    private func compile(_ layer: (Tensor, Int) -> Tensor) throws -> [String] {
        var x = Graph().input("x", [3, 3])
        for index in 0..<Self.length { x = layer(x, index) }
        return try stepNames(x)
    }

    private func stepNames(_ y: Tensor) throws -> [String] {
        try Program(outputs: [("y", y)], options: CompileOptions(threads: 1)).stepNames
    }
}
