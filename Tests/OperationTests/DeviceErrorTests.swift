import RetintGraph
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintEngine

/// Where the devices might differ: errors of steps, numbers that are none, and operations that a
/// device does not have.
@Suite struct DeviceErrorTests {
    /// A GPU is a mock on this machine.
    static let devices: [Execution.Device] = [.cpu, .reference, .cuda()]

    private static func options(_ device: Execution.Device) -> CompileOptions {
        MockCUDA.install()
        var options = CompileOptions(threads: 1)
        options.device = device
        return options
    }

    private static func data(_ scalars: [Float]) -> TensorData {
        TensorData(shape: [scalars.count], scalars: scalars)
    }

    /// A step that runs once per load, because it depends on weights alone.
    @Test(arguments: DeviceErrorTests.devices)
    func errorsOfThePreparationAreThrown(_ device: Execution.Device) throws {
        let graph = Graph()
        let table = graph.variable("table", [10], role: .parameter)
        let y = gather(table, axis: 0, indices: graph.constant(Self.data([99])))
        let program = try Program(
            outputs: [("y", y + graph.input("x", [1]))], options: Self.options(device))
        for _ in 0..<2 {
            #expect(throws: GraphError.self) { try program.run(["x": Self.data([1])]) }
        }
    }

    /// An error belongs to its run, whether that stops at each step or not.
    @Test(arguments: DeviceErrorTests.devices)
    func errorsEndWithTheirRun(_ device: Execution.Device) throws {
        let graph = Graph()
        let y = gather(
            graph.constant(Self.data([5, 6, 7])), axis: 0, indices: graph.input("index", [1]))
        let program = try Program(
            outputs: [("y", y)], observing: [y], options: Self.options(device))
        func observed(_ index: Float) throws -> TensorData? {
            var run = try program.start(["index": Self.data([index])])
            return try run.finish()["y"]
        }
        for wrong: Float in [3, -4, 0.5] {
            #expect(throws: GraphError.self) { try observed(wrong) }
            #expect(try observed(2)?.scalars == [7])
            #expect(throws: GraphError.self) { try program.run(["index": Self.data([wrong])]) }
            #expect(try program.run(["index": Self.data([1])])["y"]?.scalars == [6])
        }
    }

    /// An error of a run that is cancelled after it does not become one of the next run.
    @Test(arguments: DeviceErrorTests.devices)
    func errorsOfCancelledRunsAreForgotten(_ device: Execution.Device) throws {
        let graph = Graph()
        let table = graph.constant(Self.data([5, 6, 7]))
        let found = gather(table, axis: 0, indices: graph.input("index", [1]))
        // Two parts of a program on a GPU.
        let copied = graph.apply(Copy(), [found])
        let program = try Program(outputs: [("y", copied + found)], options: Self.options(device))
        var cancelled = 0
        for most in 0..<6 {
            var calls = 0
            func isCancelled() -> Bool {
                calls += 1
                return calls > most
            }
            do {
                _ = try program.run(["index": Self.data([99])], isCancelled: isCancelled)
            } catch is CancellationError {
                cancelled += 1
            } catch is GraphError {}
            #expect(try program.run(["index": Self.data([2])])["y"]?.scalars == [14])
        }
        #expect(cancelled >= 3)
    }

    /// Values that together, or alone, are more than the memory that they are copied from.
    @Test(arguments: DeviceErrorTests.devices)
    func manyAndLargeValuesAreCopied(_ device: Execution.Device) throws {
        let graph = Graph()
        let shapes: [Shape] = [[2, 1 << 20], [2, 1 << 20], [2, 1 << 20], [2, 9 << 20]]
        let values = shapes.enumerated().map { index, shape in
            let scalars = (0..<shape.count).map { Float(($0 >> 12 ^ index) & 255) }
            return TensorData(shape: shape, scalars: scalars)
        }
        let outputs = shapes.enumerated().map { index, shape in
            (name: "\(index)", value: graph.variable("v\(index)", shape, role: .parameter).sum())
        }
        let program = try Program(outputs: outputs, options: Self.options(device))
        var variables: [String: TensorData] = [:]
        for (index, value) in values.enumerated() { variables["v\(index)"] = value }
        try program.load(variables)
        for (index, value) in values.enumerated() {
            #expect(program.value(of: "v\(index)") == value, "\(index)")
        }
    }

    private struct Copy: HostOperation {
        static let name = "copy"

        func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape { inputs[0] }
        func evaluate(_ inputs: [TensorData]) -> TensorData { inputs[0] }
    }

    /// A GPU says what the CPU says of the first operation that fails, and forgets it then.
    @Test func errorsNameTheIndex() throws {
        let graph = Graph()
        let (table, index) = (graph.constant(Self.data([5, 6, 7])), graph.input("index", [2]))
        let updates = graph.constant(Self.data([1, 2]))
        let outputs = [
            ("y", gather(table, axis: 0, indices: index)),
            ("z", scatterAdd(table, axis: 0, indices: index + 1, updates)),
        ]
        let programs = try [Execution.Device.cpu, .cuda()].map {
            try Program(outputs: outputs, options: Self.options($0))
        }
        for wrong: Float in [2, 3, -5, 0.5, .nan, .infinity] {
            let input = ["index": Self.data([1, wrong])]
            let errors = programs.map { program in
                #expect(throws: GraphError.self) { try program.run(input) }?.description ?? ""
            }
            #expect(errors[0] == errors[1] && errors[0].contains(wrong == 2 ? "3.0" : "\(wrong)"))
            #expect(errors[0].hasPrefix(wrong == 2 ? "scatter_add" : "gather"))
            let right = ["index": Self.data([-1, 0])]
            for program in programs {
                #expect(try program.run(right)["z"]?.scalars == [6, 8, 7])
            }
        }
    }

    /// An index that is whole in float32 names an element, whatever it is in float64.
    @Test(arguments: DeviceErrorTests.devices)
    func indicesAreComputed(_ device: Execution.Device) throws {
        let graph = Graph()
        let index = graph.input("x", [1]) * 10
        let y = gather(
            graph.constant(Self.data((0..<10).map(Float.init))), axis: 0, indices: index)
        let value = try y.evaluate(
            inputs: ["x": Self.data([0.7])], options: Self.options(device))
        #expect(value.scalars == [7])
    }

    @Test(arguments: DeviceErrorTests.devices)
    func numbersThatAreNoneStay(_ device: Execution.Device) throws {
        let graph = Graph()
        let x = graph.input("x", [1, 1, 2, 3])
        let pooled = maxPool2d(x, kernel: Pair(2, 2))
        let gradient = try gradients(of: pooled.sum(), withRespectTo: [x])[0]
        let outputs = [("highest", x.max()), ("pooled", pooled), ("gradient", gradient)]
        let program = try Program(outputs: outputs, options: Self.options(device))
        let values = try program.run([
            "x": TensorData(shape: x.shape, scalars: [1, .nan, 2, 3, 4, 5])
        ])
        #expect(values["highest"]?.scalars[0].isNaN == true)
        #expect(values["pooled"]?.scalars[0].isNaN == true)
        // One element of the window gets the gradient.
        #expect(values["gradient"]?.scalars.sorted() == [0, 0, 0, 0, 0, 1])
    }

    /// The CPU computes an elementwise operation with a loop, and refuses one that has none.
    @Test func operationsWithoutLoopAreRefused() throws {
        let graph = Graph()
        let y = graph.input("x", [2]).applying(Cube())
        let error = #expect(throws: GraphError.self) { try Program(outputs: [("y", y)]) }
        #expect(error?.description.contains("no kernel") == true)
        let value = try y.evaluate(
            inputs: ["x": Self.data([2, -3])], options: Self.options(.reference))
        #expect(value.scalars == [8, -27])
    }
}

private struct Cube: UnaryElementwise {
    static let name = "cube"
    func formula(_ x: Formula) -> Formula { x * x * x }
}
