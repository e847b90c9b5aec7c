import RetintFloat64
import RetintGraph
import RetintOperationCases
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintEngine

/// The engine's float32 kernels against the double-precision reference and against PyTorch.
@Suite struct EngineColumn {
    /// The largest normalised mean square error, Σ (engine − reference)² / Σ reference², without
    /// and with Winograd's convolution.
    static let bounds = [CompileOptions.Winograd.never: 1e-10, .wherePossible: 1e-8]

    @Test(arguments: OperationTable.cases.sampled("engine"))
    func engineAgreesWithReference(_ testCase: OperationCase) throws {
        let graph = try CaseGraph(testCase)
        let tensors = [graph.output] + graph.gradients
        let expected = try Float64Evaluator(inputs: graph.doubleFeeds).evaluate(tensors)
        for (winograd, bound) in Self.bounds {
            let options = CompileOptions(threads: nil, winograd: winograd)
            for (index, tensor) in tensors.enumerated() {
                let value = try tensor.evaluate(inputs: graph.engineInputs, options: options)
                #expect(value.shape == tensor.shape)
                let error = normalizedError(value.scalars, expected[index].values)
                #expect(error <= bound, "\(CaseGraph.place(index)): error \(error)")
            }
        }
    }

    /// The reference device computes what the compiler made of the graph, in float64: steps, views,
    /// and the memory that values share. What is left is the rounding of its results.
    @Test(arguments: OperationTable.cases.sampled("reference"))
    func referenceDeviceAgreesWithDefinition(_ testCase: OperationCase) throws {
        let graph = try CaseGraph(testCase)
        let tensors = [graph.output] + graph.gradients
        let expected = try Float64Evaluator(inputs: graph.doubleFeeds).evaluate(tensors)
        let outputs = tensors.enumerated().map { (name: CaseGraph.place($0), value: $1) }
        var options = CompileOptions()
        options.device = .reference
        let program = try Program(outputs: outputs, options: options)
        let values = try program.run(graph.engineInputs)
        for (index, expected) in expected.enumerated() {
            let name = CaseGraph.place(index)
            let value = try #require(values[name])
            #expect(value.shape == expected.shape)
            #expect(normalizedError(value.scalars, expected.values) <= 1e-14, "\(name)")
        }
        #expect(try program.run(graph.engineInputs) == values, "a second run repeats the first")
    }

    /// The cases that mean to, do use Winograd's convolution.
    @Test(arguments: OperationTable.cases.filter { $0.name.contains("3×3 tiles") })
    func tilesAreUsed(_ testCase: OperationCase) throws {
        let graph = try CaseGraph(testCase)
        let outputs = ([graph.output] + graph.gradients).enumerated().map {
            (name: CaseGraph.place($0), value: $1)
        }
        let steps = try Program(
            outputs: outputs, options: .init(threads: nil, winograd: .wherePossible)
        ).profile().map(\.name)
        #expect(steps.contains("conv2d_weight_winograd"), "\(steps)")
        #expect(steps.filter { $0 == "conv2d_winograd" }.count == 2, "\(steps)")
    }

    /// The products' code for smaller CPUs, which a wide one never chooses by itself.
    @Test(
        arguments: OperationTable.cases.filter { $0.name.hasPrefix("conv2d") }, [4, 8])
    func narrowVectorsAgreeWithReference(_ testCase: OperationCase, floats: Int) throws {
        Machine.limitVectors(to: floats)
        defer { Machine.limitVectors(to: 16) }
        let graph = try CaseGraph(testCase)
        let tensors = [graph.output] + graph.gradients
        let expected = try Float64Evaluator(inputs: graph.doubleFeeds).evaluate(tensors)
        for (index, tensor) in tensors.enumerated() {
            let value = try tensor.evaluate(
                inputs: graph.engineInputs, options: .init(threads: 1))
            let error = normalizedError(value.scalars, expected[index].values)
            #expect(error <= 1e-8, "\(CaseGraph.place(index)): error \(error)")
        }
    }

    /// One program with all results, whose memory plan they share; a second run repeats the first.
    @Test(arguments: OperationTable.recorded.sampled("PyTorch"))
    func programAgreesWithPyTorch(_ testCase: OperationCase) throws {
        let graph = try CaseGraph(testCase)
        let tensors = [graph.output] + graph.gradients
        let outputs = tensors.enumerated().map { (name: CaseGraph.place($0), value: $1) }
        let program = try Program(outputs: outputs)
        let values = try program.run(graph.engineInputs)
        let digests = try Golden.digests(of: testCase)
        try #require(digests.count == tensors.count)
        for (index, digest) in digests.enumerated() {
            let name = CaseGraph.place(index)
            let value = try #require(values[name])
            digest.expect(Digest(value.scalars.map(Double.init)), name, within: 1e-4)
        }
        #expect(try program.run(graph.engineInputs) == values)
    }
}

extension CaseGraph {
    /// The inputs as the engine takes them.
    var engineInputs: [String: TensorData] {
        var result = ["weights": TensorData(shape: output.shape, scalars: feeds["weights"]!)]
        for (index, input) in inputs.enumerated() {
            let name = "input \(index)"
            result[name] = TensorData(shape: input.shape, scalars: feeds[name]!)
        }
        return result
    }

    /// What the `index`-th of output and gradients is called.
    static func place(_ index: Int) -> String {
        index == 0 ? "output" : "gradient \(index - 1)"
    }
}
