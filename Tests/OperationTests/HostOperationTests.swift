import RetintEngine
import RetintGraph
import RetintTensors
import Testing

/// Operations that are not the library's: they run, or compilation throws.
@Suite struct HostOperationTests {
    private let graph = Graph()

    @Test func runsInLogicalOrder() throws {
        let x = graph.input("x", [1, 2, 2, 3])
        let y = graph.apply(Reversed(), [relu(x)]) * 2
        let values = TensorData(shape: x.shape, scalars: (0..<12).map(Float.init))
        let expected = (0..<12).reversed().map { 2 * Float($0) }
        #expect(try y.evaluate(inputs: ["x": values]).scalars == expected)
    }

    @Test func gradientsPassThroughIt() throws {
        let x = graph.variable("x", [2, 3], role: .parameter)
        let loss = (graph.apply(Cube(), [x * 2]) * graph.constant(3)).sum()
        let gradient = try gradients(of: loss, withRespectTo: [x])[0]
        let values = TensorData(shape: [2, 3], scalars: [0, 1, 2, 3, -1, 0.5])
        // d/dx Σ 3·(2x)³ = 72·x²
        let expected = values.scalars.map { 72 * $0 * $0 }
        #expect(try gradient.evaluate(variables: ["x": values]).scalars == expected)
    }

    @Test func equalApplicationsAreOneNode() {
        let x = graph.input("x", [2])
        #expect(graph.apply(Cube(), [x]).id == graph.apply(Cube(), [x]).id)
    }

    /// The run throws, and the next one is not disturbed.
    @Test func errorsNameTheOperation() throws {
        let x = graph.input("x", [2])
        let y = graph.inModule("head") { graph.apply(Picky(), [x]) }
        let program = try Program(outputs: [("y", y)])
        let error = #expect(throws: GraphError.self) {
            try program.run(["x": TensorData(shape: [2], scalars: [1, -1])])
        }
        #expect(error?.description == "picky in head: a value is negative (inputs: [2])")
        let values = TensorData(shape: [2], scalars: [1, 2])
        #expect(try program.run(["x": values])["y"] == values)
    }

    @Test func anotherShapeThanStatedIsRefused() throws {
        let y = graph.apply(Reversed(shape: [3]), [graph.input("x", [2])])
        let error = #expect(throws: GraphError.self) {
            try y.evaluate(inputs: ["x": TensorData(shape: [2], repeating: 0)])
        }
        #expect(error?.operation == "reversed")
        #expect(error?.reason == "evaluated to shape [2], but its shape rule returned [3]")
    }

    @Test func observedRunsThrowAtTheirEnd() throws {
        let x = graph.input("x", [2])
        let y = graph.apply(Picky(), [x])
        let program = try Program(outputs: [("y", y)], observing: [x + 1])
        var run = try program.start(["x": TensorData(shape: [2], repeating: -1)])
        #expect(throws: GraphError.self) { try run.finish() }
    }

    @Test func anOperationWithoutKernelIsNamed() {
        let x = graph.input("x", [2, 3])
        let y = graph.inModule("head") { graph.apply(Unknown(), [x]) }
        let error = #expect(throws: GraphError.self) { try Program(outputs: [("y", y)]) }
        #expect(error?.operation == "unknown")
        #expect(error?.module == "head")
        #expect(error?.inputShapes == [[2, 3]])
        #expect(error?.reason.contains("HostOperation") == true)
    }

    private struct Cube: HostOperation {
        static let name = "cube"

        func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape { inputs[0] }

        func evaluate(_ inputs: [TensorData]) -> TensorData {
            TensorData(shape: inputs[0].shape, scalars: inputs[0].scalars.map { $0 * $0 * $0 })
        }

        func gradients(_ backward: Backward) -> [Tensor?] {
            let x = backward.inputs[0]
            return [backward.gradient * x * x * 3]
        }
    }

    /// All elements in reverse order, under the stated shape or the input's.
    private struct Reversed: HostOperation {
        static let name = "reversed"
        var shape: Shape?

        func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape { shape ?? inputs[0] }

        func evaluate(_ inputs: [TensorData]) -> TensorData {
            TensorData(shape: inputs[0].shape, scalars: inputs[0].scalars.reversed())
        }
    }

    private struct Picky: HostOperation {
        struct Negative: Error, CustomStringConvertible {
            let description = "a value is negative"
        }

        static let name = "picky"

        func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape { inputs[0] }

        func evaluate(_ inputs: [TensorData]) throws -> TensorData {
            guard inputs[0].scalars.allSatisfy({ $0 >= 0 }) else { throw Negative() }
            return inputs[0]
        }
    }

    private struct Unknown: RetintGraph.Operation {
        static let name = "unknown"

        func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape { inputs[0] }
    }
}
