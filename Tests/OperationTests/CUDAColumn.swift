import RetintCompiler
import RetintGraph
import RetintOperationCases
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintCUDA
@testable import RetintEngine
@testable import RetintFloat64

/// What runs on a GPU, on libraries that compute on this machine.
@Suite struct CUDAColumn {
    private static func options(_ arithmetic: Arithmetic = .float32) -> CompileOptions {
        MockCUDA.install()
        var options = CompileOptions()
        options.device = .cuda()
        options.arithmetic = arithmetic
        return options
    }

    /// Kernels from the graph and products of the libraries compute what the operations are defined
    /// as, at first one by one and then as a recorded graph.
    @Test(arguments: OperationTable.cases.sampled("cuda"))
    func agreesWithReference(_ testCase: OperationCase) throws {
        let graph = try CaseGraph(testCase)
        let tensors = [graph.output] + graph.gradients
        let expected = try Float64Evaluator(inputs: graph.doubleFeeds).evaluate(tensors)
        let outputs = tensors.enumerated().map { (name: CaseGraph.place($0), value: $1) }
        let program = try Program(outputs: outputs, options: Self.options())
        let values = try program.run(graph.engineInputs)
        for (index, expected) in expected.enumerated() {
            let name = CaseGraph.place(index)
            let value = try #require(values[name])
            #expect(value.shape == expected.shape)
            let error = normalizedError(value.scalars, expected.values)
            #expect(error <= 1e-10, "\(name): error \(error)")
        }
        #expect(try program.run(graph.engineInputs) == values, "the graph repeats the first run")
        #expect(try program.run(graph.engineInputs) == values, "and so does every other run")
    }

    /// Values in 16 bits between products in 16 bits.
    @Test(
        arguments: OperationTable.cases.filter { $0.name.hasPrefix("conv") }.sampled("cuda16"),
        [Arithmetic.bfloat16, .float16])
    func halvesAgreeWithReference(_ testCase: OperationCase, _ arithmetic: Arithmetic) throws {
        let graph = try CaseGraph(testCase)
        let tensors = [graph.output] + graph.gradients
        let expected = try Float64Evaluator(inputs: graph.doubleFeeds).evaluate(tensors)
        let outputs = tensors.enumerated().map { (name: CaseGraph.place($0), value: $1) }
        let program = try Program(outputs: outputs, options: Self.options(arithmetic))
        let values = try program.run(graph.engineInputs)
        for (index, expected) in expected.enumerated() {
            let name = CaseGraph.place(index)
            let error = normalizedError(try #require(values[name]).scalars, expected.values)
            // A gradient through max or abs can take the other way at a rounded value.
            #expect(error <= (index == 0 ? 2e-3 : 2e-2), "\(name): error \(error)")
        }
    }

    /// Products in TF32 take the engines that round operands, which those in float32 must not.
    @Test(
        arguments: OperationTable.cases.filter {
            $0.name.hasPrefix("conv") || $0.name.hasPrefix("matmul")
        }.sampled("tf32"))
    func roundedProductsAgreeWithReference(_ testCase: OperationCase) throws {
        let graph = try CaseGraph(testCase)
        let expected = try Float64Evaluator(inputs: graph.doubleFeeds).evaluate([graph.output])
        let outputs = [(name: "y", value: graph.output)]
        let program = try Program(outputs: outputs, options: Self.options(.tf32))
        let values = try program.run(graph.engineInputs)
        let error = normalizedError(try #require(values["y"]).scalars, expected[0].values)
        #expect(error <= 1e-5, "error \(error)")
    }

    /// A product shows which of the engines computes it.
    @Test(arguments: [Arithmetic.float32, .tf32])
    func onlyTF32RoundsOperands(_ arithmetic: Arithmetic) throws {
        let graph = Graph()
        let x = graph.input("x", [1, 8, 1, 1])
        let weight = graph.variable("weight", [8, 8, 1, 1], role: .parameter)
        let matrix = x.reshaped([1, 8])
        let outputs = [
            ("convolution", conv2d(x, weight: weight)),
            ("product", matmul(matrix, weight.reshaped([8, 8]))),
        ]
        let program = try Program(outputs: outputs, options: Self.options(arithmetic))
        let unit = (0..<64).map { Float($0 % 9 == 0 ? 1 : 0) }
        try program.load(["weight": TensorData(shape: weight.shape, scalars: unit)])
        // 13 bits of a fraction, of which TF32 has 10.
        let number: Float = 1 + 0x1p-13
        let data = TensorData(shape: x.shape, scalars: [Float](repeating: number, count: 8))
        for (_, value) in try program.run(["x": data]) {
            #expect(value.scalars.allSatisfy { $0 == (arithmetic == .tf32 ? 1 : number) })
        }
    }

    /// Weights in 16 bits are those of the last load, and each step is timed by the GPU.
    @Test func weightsAreThoseOfTheLastLoad() throws {
        let graph = Graph()
        let x = graph.input("x", [1, 4, 16, 16])
        let weight = graph.variable("weight", [4, 4, 1, 1], role: .parameter)
        let y = conv2d(relu(conv2d(x, weight: weight)), weight: weight)
        let program = try Program(outputs: [("y", y)], options: Self.options(.bfloat16))
        let ones = TensorData(shape: x.shape, scalars: [Float](repeating: 1, count: x.shape.count))
        for factor: Float in [1, 2, 0.5] {
            let scalars = (0..<16).map { $0 % 5 == 0 ? factor : 0 }
            try program.load(["weight": TensorData(shape: weight.shape, scalars: scalars)])
            for _ in 0..<3 {
                let found = try #require(try program.run(["x": ones])["y"])
                #expect(found.scalars.allSatisfy { $0 == factor * factor })
            }
        }
        // By the mock's clock, work and the mark after it take a millisecond each.
        let milliseconds = program.profile(runs: 2).map { ($0.seconds * 1e3).rounded() }
        #expect(milliseconds.count >= 2 && milliseconds.allSatisfy { $0 >= 2 })
    }

    /// Code of this machine gets float32, and so do positions, whatever the values around are.
    @Test func hostOperationsBetweenHalves() throws {
        let graph = Graph()
        let x = graph.input("x", [1, 4, 32, 32])
        let weight = TensorData(
            shape: [4, 4, 1, 1], scalars: (0..<16).map { $0 % 5 == 0 ? 1 : 0 })
        let y = conv2d(x, weight: graph.constant(weight)).applying(HostCopy())
        let first = gather(y, axis: 1, indices: topIndices(y, 1, axis: 1))
        let program = try Program(
            outputs: [("first", first + 0)], options: Self.options(.bfloat16))
        // Numbers that bfloat16 has.
        let scalars = (0..<4096).map { Float(($0 &* 37) % 128) }
        let data = TensorData(shape: x.shape, scalars: scalars)
        let found = try #require(try program.run(["x": data])["first"]).scalars
        let expected = (0..<1024).map { pixel in (0..<4).map { scalars[$0 * 1024 + pixel] }.max()! }
        #expect(found == expected)
    }

    /// Halves, and what C has no function for, at the values where they differ from neighbors.
    @Test func functionsOfThePrelude() throws {
        let numbers: [Float] = [
            0, -0.0, 1, 65_504, 65_519.9, 65_520, -65_520, 6.1e-5, 6.0e-5, 2.98e-8, 2.99e-8, 1e-30,
            2_049, 2_051, -4_099, .infinity, -.infinity, .nan, 0.1, -0.333,
        ]
        let graph = Graph()
        let x = graph.input("x", [numbers.count])
        let y = graph.input("y", [numbers.count])
        let outputs = [
            ("half", x.applying(RoundToHalf())), ("high", maximum(x, y)), ("low", minimum(x, y)),
            ("clip", clip(x, min: -1, max: .infinity)),
        ]
        let shifted = Array(numbers[7...] + numbers[..<7])
        let program = try Program(outputs: outputs, options: Self.options())
        let values = try program.run([
            "x": TensorData(shape: x.shape, scalars: numbers),
            "y": TensorData(shape: y.shape, scalars: shifted),
        ])
        func expect(_ name: String, _ expected: [Float]) throws {
            for (found, expected) in zip(try #require(values[name]).scalars, expected) {
                #expect(
                    found == expected || found.isNaN && expected.isNaN, "\(name): \(expected)")
            }
        }
        try expect("half", numbers.map { Float(Float16($0)) })
        let pairs = zip(numbers, shifted)
        try expect("high", pairs.map { $0.isNaN || $1.isNaN ? .nan : max($0, $1) })
        try expect("low", pairs.map { $0.isNaN || $1.isNaN ? .nan : min($0, $1) })
        try expect("clip", numbers.map { $0.isNaN ? .nan : max($0, -1) })
    }

    /// Sums that many blocks share, by rows and by columns, and values that are larger than any
    /// group of threads.
    @Test(arguments: [[1, 3, 150, 200], [2, 70, 40, 50], [300_000], [5, 20_000]])
    func largeReductions(_ dimensions: [Int]) throws {
        let graph = Graph()
        let x = graph.input("x", Shape(dimensions))
        let axes = dimensions.count == 4 ? [0, 2, 3] : [dimensions.count - 1]
        let outputs = [("sum", x.sum(axes: axes)), ("max", x.max(axes: axes)), ("all", x.mean())]
        let tensors = outputs.map(\.1)
        let scalars = (0..<x.shape.count).map { Float(($0 &* 7919) % 2003) / 1000 - 1 }
        let data = TensorData(shape: x.shape, scalars: scalars)
        let program = try Program(outputs: outputs, options: Self.options())
        let values = try program.run(["x": data])
        let doubles = ["x": scalars.map(Double.init)]
        let expected = try Float64Evaluator(inputs: doubles).evaluate(tensors)
        for ((name, _), expected) in zip(outputs, expected) {
            let found = try #require(values[name]).scalars
            #expect(normalizedError(found, expected.values) <= 1e-10, "\(name)")
        }
    }

    /// Updates of variables are done together, as if they were done where the graph has them: some
    /// read what others write, and their variables have all kinds of sizes.
    @Test func updatesAreGrouped() throws {
        let graph = Graph(mode: .training)
        let shapes: [Shape] = [[3], [8], [4, 3, 2, 2], [1000], [7], [300], [1, 64, 3, 3], []]
        let x = graph.input("x", [2, 3])
        let rate = graph.variable("rate", .scalar, role: .setting)
        let variables = shapes.enumerated().map {
            graph.variable("v\($0)", $1, role: .parameter)
        }
        for (index, variable) in variables.enumerated() {
            let half = graph.variable("m\(index)", variable.shape, role: .optimizerState)
            let next = half * 0.5 + variable * rate + x.mean()
            graph.update(half, to: next)
            graph.update(variable, to: variable - next * 0.25)
        }
        // The second reads the first as it was before the run.
        let (a, b) = (
            graph.variable("a", [5], role: .buffer), graph.variable("b", [5], role: .buffer)
        )
        graph.update(a, to: a * 2 + 1)
        graph.update(b, to: b * 2 + a)
        let names =
            ["v", "m"].flatMap { kind in shapes.indices.map { "\(kind)\($0)" } } + ["a", "b"]
        let shape = Dictionary(
            uniqueKeysWithValues: zip(names, shapes + shapes + [[5], [5]]))
        var start = shape.mapValues { shape in
            TensorData(
                shape: shape, scalars: (0..<shape.count).map { Float($0 % 17) / 16 - 0.5 })
        }
        start["rate"] = TensorData(scalar: 0.125)
        var reference = CompileOptions()
        reference.device = .reference
        let programs = try [reference, Self.options()].map {
            try Program(outputs: [("mean", x.mean())], options: $0)
        }
        for program in programs {
            try program.load(start)
            for run in 0..<3 {
                let data = (0..<6).map { Float($0 * run) / 4 }
                _ = try program.run(["x": TensorData(shape: [2, 3], scalars: data)])
            }
        }
        for name in names {
            let values = programs.map { $0.value(of: name)?.scalars }
            #expect(values[0] == values[1] && values[0] != start[name]?.scalars, "\(name)")
        }
        // The mean, the updates of all eight, and two that depend on each other.
        #expect(programs[1].steps.count <= 5, "\(programs[1].steps.map(\.kernel.name))")
    }

    @Test func saysWhatDoesNotFit() throws {
        let graph = Graph()
        let x = graph.input("x", [1 << 20])
        // The mock has 4 GiB.
        let large = x.reshaped([1, 1 << 20]).broadcast(to: [1 << 11, 1 << 20]) * 2
        let error = #expect(throws: GraphError.self) {
            try Program(outputs: [("y", large)], options: Self.options())
        }
        #expect(error?.description.contains("take a smaller batch") == true, "\(error!)")
    }

    @Test func saysWhichGPUsThereAre() throws {
        MockCUDA.install()
        let error = #expect(throws: CUDAError.self) { try GPU.shared(3) }
        #expect(error?.description.contains("there is no GPU 3; this machine has 3") == true)
    }
}

private struct HostCopy: HostOperation {
    static let name = "host_copy"
    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape { inputs[0] }
    func evaluate(_ inputs: [TensorData]) -> TensorData { inputs[0] }
    func gradients(_ backward: Backward) -> [Tensor?] { [nil] }
}
