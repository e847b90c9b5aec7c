import AIModel
import Engine
import MIL
import MLPackage
import OperationCases
import PackageSupport
import TensorGraph
import TestSupport
import Testing

/// Each operation: graph → MIL → `.aimodel` on disk → MIL → graph gives the same values.
@Suite struct OperationTests {
    @Test(arguments: OperationTable.exported)
    func float32(_ testCase: OperationCase) throws {
        let run = try RoundTrip(testCase, .float32)
        let largest = run.expected.scalars.map(abs).max() ?? 0
        #expect(try distance(run.found, run.expected) <= 2e-5 * max(1, largest))
    }

    @Test(arguments: OperationTable.exported)
    func float16(_ testCase: OperationCase) throws {
        let run = try RoundTrip(testCase, .float16)
        let largest = run.expected.scalars.map(abs).max() ?? 0
        #expect(try distance(run.found, run.expected) <= 8e-3 * max(1, largest))
    }
}

private struct RoundTrip {
    let expected: TensorData
    let found: TensorData?

    init(_ testCase: OperationCase, _ precision: MILDataType) throws {
        let graph = Graph()
        let weightsStart = testCase.inputs.count - testCase.weights
        var (feeds, values): ([String: TensorData], [String: TensorData]) = ([:], [:])
        var operands: [Tensor] = []
        for (index, input) in testCase.inputs.enumerated() {
            let data = numbers(input.shape, seed: index + 1, positive: input.range == .positive)
            if index < weightsStart {
                operands.append(graph.input("in_\(index)", input.shape))
                feeds["in_\(index)"] = data
            } else {
                operands.append(graph.variable("w.\(index)", input.shape, role: .parameter))
                values["w.\(index)"] = data
            }
        }
        let output = try testCase.build(operands)
        expected = try output.evaluate(inputs: feeds, variables: values)
        let program = try MILLowering.lower(
            [("y", output)], variables: values, LoweringOptions(precision, .iOS18)
        ).program
        let scratch = try TemporaryFolder()
        let path = scratch.path("case.aimodel")
        try package(program, .iOS18).writeAIModel(to: path)
        found = try raise(try MLPackage(contentsOfAIModel: path)).run(feeds)["y"]
    }
}
