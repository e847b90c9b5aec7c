import RetintAIModel
import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintOperationCases
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

/// Each operation: graph → MIL → `.aimodel` on disk → MIL → graph gives the same values.
@Suite struct OperationTests {
    @Test(arguments: OperationTable.ofAIModel)
    func float32(_ testCase: OperationCase) throws {
        let run = try RoundTrip(testCase, .float32)
        let largest = run.expected.scalars.map(abs).max() ?? 0
        #expect(try distance(run.found, run.expected) <= 2e-5 * max(1, largest))
    }

    @Test(arguments: OperationTable.ofAIModel)
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
        let built = try BuiltCase(testCase, inputPrefix: "in_")
        expected = built.expected
        let scratch = try TemporaryFolder()
        let path = scratch.path("case.aimodel")
        try package(built.lowered(precision, .iOS18), .iOS18).writeAIModel(to: path)
        found = try raise(try MLPackage(contentsOfAIModel: path)).run(built.feeds)["y"]
    }
}
