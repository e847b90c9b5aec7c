import RetintMLPackage
import RetintPackageSupport
import RetintTestSupport
import Testing

@testable import RetintMIL

/// The list of operations that are lowered and raised.
@Suite struct OperationFormsTests {
    @Test func listsWhatTheSourcesDeclare() throws {
        let declared = try SourceDeclarations(of: "Sources/Formats/MIL").types(adopting: "MILForm")
        #expect(OperationForms.all.map { "\($0)" } == declared.sorted())
    }

    @Test func lowersEachOperationOfTheGraph() throws {
        let operations = try SourceDeclarations(of: "Sources/Tensors/Graph")
            .types(adopting: "Operation")
        let lowerable = OperationForms.all.filter { $0 is any MILLowerable.Type }
        #expect(
            operations.subtracting(OperationsOfNoFormat.all) == Set(lowerable.map { "\($0)" }))
    }

    /// MIL does not have these: they are lowered to several operations, which are raised as such.
    private static let composed: Set = ["HardSwish", "LogSoftmax", "Negate"]

    /// No case of these is taken through formats yet; the rounding of inputs takes iOS17, and is
    /// tested with networks that were trained for it.
    private static let untried: Set = ["FakeQuantizeInput", "Floor", "Round"]

    @Test func raisesWhatItLowers() throws {
        let detour = try OperationDetour { try raise($0).graph }
        let lowerable = OperationForms.all.filter { $0 is any MILLowerable.Type }
        #expect(Set(lowerable.map { "\($0)" }).subtracting(detour.tried) == Self.untried)
        #expect(detour.tried.subtracting(detour.kept) == Self.composed)
    }
}
