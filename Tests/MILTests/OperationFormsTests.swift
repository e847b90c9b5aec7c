import MLPackage
import PackageSupport
import TestSupport
import Testing

@testable import MIL

/// The list of forms in MIL.
@Suite struct OperationFormsTests {
    @Test func listsWhatTheSourcesDeclare() throws {
        let declared = try SourceDeclarations(of: "Sources/MIL").types(adopting: "MILForm")
        #expect(OperationForms.all.map { "\($0)" } == declared.sorted())
    }

    @Test func lowersEachOperationOfTheGraph() throws {
        let operations = try SourceDeclarations(of: "Sources/TensorGraph")
            .types(adopting: "Operation")
        let lowerable = OperationForms.all.filter { $0 is any MILLowerable.Type }
        #expect(
            operations.subtracting(OperationsOfNoFormat.all) == Set(lowerable.map { "\($0)" }))
    }

    /// Operations that MIL has not: what they are lowered to is raised as it stands.
    private static let composed: Set = ["HardSwish", "LogSoftmax", "Negate"]

    @Test func raisesWhatItLowers() throws {
        let detour = try OperationDetour { try raise($0).graph }
        let lowerable = OperationForms.all.filter { $0 is any MILLowerable.Type }
        #expect(detour.tried == Set(lowerable.map { "\($0)" }))
        #expect(detour.tried.subtracting(detour.kept) == Self.composed)
    }
}
