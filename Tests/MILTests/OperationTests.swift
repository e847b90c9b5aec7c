import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintOperationCases
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

/// Each operation: graph → MIL → package on disk → MIL → graph gives the same values.
@Suite struct OperationTests {
    @Test(arguments: OperationTable.exported)
    func float32(_ testCase: OperationCase) throws {
        let run = try RoundTrip(testCase, .float32, .iOS15)
        let types = run.program.operations.map(\.type).filter { $0 != "const" }
        #expect(types == testCase.mil)
        let largest = run.expected.scalars.map(abs).max() ?? 0
        #expect(try distance(run.found, run.expected) <= 1e-5 * max(1, largest))
    }

    @Test(arguments: OperationTable.exported, [DeploymentTarget.iOS15, .iOS18])
    func float16(_ testCase: OperationCase, _ target: DeploymentTarget) throws {
        let run = try RoundTrip(testCase, .float16, target)
        let largest = run.expected.scalars.map(abs).max() ?? 0
        #expect(try distance(run.found, run.expected) <= 4e-3 * max(1, largest))
        let inner = run.program.operations.filter { $0.type != "cast" }.flatMap(\.outputs)
        #expect(inner.allSatisfy { $0.type.dataType != .float32 || $0.type.rank == 0 })
    }

    /// Core ML takes the shape of a selection from what is selected, not from the condition.
    @Test(arguments: OperationTable.exported)
    func selectedValuesHaveTheShapeOfTheResult(_ testCase: OperationCase) throws {
        let program = try RoundTrip(testCase, .float32, .iOS15).program
        let types = program.types
        for operation in program.operations where operation.type == "select" {
            let selected = ["a", "b"].compactMap { operation.inputs[$0]?.first?.name }
                .compactMap { types[$0]?.dimensions }
            #expect(selected.contains(operation.outputs[0].type.dimensions))
        }
    }

    /// Nodes that no output depends on are not written.
    @Test(arguments: OperationTable.exported)
    func nothingIsDead(_ testCase: OperationCase) throws {
        let program = try RoundTrip(testCase, .float16, .iOS16).program
        let uses = program.operations.flatMap { $0.inputs.values.joined().compactMap(\.name) }
        let needed = Set(uses + program.outputs)
        for operation in program.operations {
            #expect(operation.outputs.contains { needed.contains($0.name) })
        }
    }
}

private struct RoundTrip {
    let program: MILProgram
    let expected: TensorData
    let found: TensorData?

    init(_ testCase: OperationCase, _ precision: MILDataType, _ target: DeploymentTarget) throws {
        let built = try BuiltCase(testCase, inputPrefix: "in.")
        expected = built.expected
        program = try built.lowered(precision, target)
        let scratch = try TemporaryFolder()
        let path = scratch.path("case.mlpackage")
        try package(program, target).write(to: path)
        let model = try raise(try MLPackage(contentsOf: path))
        let legal = built.feeds.map { (MILNames.legal($0.key), $0.value) }
        found = try model.run(Dictionary(uniqueKeysWithValues: legal))["y"]
    }
}
