import RetintTestSupport
import Testing

@testable import RetintEngine

/// The list of operations that the CPU computes.
@Suite struct OperationFormsTests {
    /// Operations that need no step of a program, and why.
    private static let stored: [String: Set<String>] = [
        "its value is stored": ["Constant", "Input", "Variable"],
        "it names a part of another value's memory": ["BucketPart"],
    ]

    @Test func listsWhatTheSourcesDeclare() throws {
        let declared = try SourceDeclarations(of: "Sources/Tensors/Engine").types(
            adopting: "CPUOperation")
        #expect(OperationForms.all.map { "\($0)" } == declared.sorted())
    }

    @Test func computesEachOperationOfTheGraph() throws {
        let sources = try SourceDeclarations(of: "Sources/Tensors/Graph")
        let operations = sources.types(adopting: "Operation")
        // Those are computed by Swift code of their own.
        let onHost = sources.types(adopting: "HostOperation")
        let computed = onHost.union(OperationForms.all.map { "\($0)" })
        #expect(operations.subtracting(computed) == Set(Self.stored.values.joined()))
    }
}
