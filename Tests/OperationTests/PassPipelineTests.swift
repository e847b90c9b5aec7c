import RetintGraph
import RetintTensors
import Testing

@testable import RetintEngine

/// The passes run in the order of their list, and values of the first graph are found in the last.
@Suite struct PassPipelineTests {
    @Test func passesAreNamedInOrder() {
        var options = CompileOptions(threads: 1)
        options.roundsToHalf = true
        options.recomputes = true
        let pipeline = PassPipeline(options, choices: .init(), threads: 1, learns: true)
        #expect(
            names(pipeline) == [
                "choose layouts", "round to half precision", "decompose operations",
                "fuse normalizations", "fuse attention", "fuse activations", "fuse gates",
                "sum parallel convolutions", "shuffle transposed convolutions",
                "order channels for pixel shuffles", "choose convolution algorithms",
                "compose movements", "recompute activations",
                "chain kernels", "batch elementwise steps",
            ])
    }

    @Test func passesRunOnlyIfAskedFor() {
        let pipeline = PassPipeline(
            CompileOptions(threads: 1), choices: .init(), threads: 1, learns: false)
        #expect(
            pipeline.graphPasses.map { type(of: $0).name } == [
                "choose layouts", "decompose operations", "fuse normalizations", "fuse attention",
                "fuse activations", "fuse gates", "sum parallel convolutions",
                "shuffle transposed convolutions", "order channels for pixel shuffles",
                "choose convolution algorithms",
                "compose movements",
            ])
    }

    private func names(_ pipeline: PassPipeline) -> [String] {
        pipeline.graphPasses.map { type(of: $0).name }
            + pipeline.stepPasses.map { type(of: $0).name }
    }

    /// Each node of the first graph, whatever it became.
    @Test func nodeMapsAreComposed() throws {
        let graph = Graph(mode: .training)
        let x = graph.input("x", [1, 16, 8, 8])
        let weight = graph.variable("weight", [32, 16, 3, 3], role: .parameter)
        let y = conv2d(x, weight: weight, padding: 1)
        let options = CompileOptions(threads: 1)
        let pipeline = PassPipeline(options, choices: .init(), threads: 1, learns: false)
        let result = try PassPipeline.run(
            pipeline.graphPasses, on: graph, roots: [y.id, x.id, weight.id])
        #expect(result.graph.nodes[result.ids[y.id]].operation.name == "conv2d_winograd")
        #expect(result.graph.nodes[result.ids[x.id]].operation is Input)
        #expect(result.graph.nodes[result.ids[weight.id]].operation is Variable)
    }

    @Test func observedValuesAreFoundBehindAllPasses() throws {
        let graph = Graph()
        let x = graph.input("x", [1, 16, 8, 8])
        let weight = graph.variable("weight", [32, 16, 3, 3], role: .parameter)
        let hidden = conv2d(x, weight: weight, padding: 1)
        let y = relu(hidden + 1)
        var options = CompileOptions(threads: 1)
        options.roundsToHalf = true
        let program = try Program(outputs: [("y", y)], observing: [hidden, x], options: options)
        try program.load(["weight": TensorData(shape: weight.shape, repeating: 0.25)])
        var run = try program.start(["x": TensorData(shape: x.shape, repeating: 1)])
        var seen: [Int: TensorData] = [:]
        while let values = run.next() {
            for value in values { seen[value.index] = value.data }
        }
        let outputs = try run.finish()
        #expect(seen[1] == TensorData(shape: x.shape, repeating: 1))
        #expect(seen[0]?.shape == hidden.shape)
        #expect(outputs["y"]?.scalars == seen[0]?.scalars.map { $0 + 1 })
    }
}
