import MIL
import MLPackage
import PackageSupport
import TestSupport
import Testing

@testable import AIModel

/// The list of what is written as `.aimodel` and read from it.
@Suite struct OperationFormsTests {
    @Test func listsWhatTheSourcesDeclare() throws {
        let declared = try SourceDeclarations(of: "Sources/AIModel")
            .types(adopting: "OperationFamily")
        #expect(OperationForms.all.map { "\($0)" } == declared.sorted())
    }

    /// Operations of the graph that the dialect has not: they are written as others.
    private static let composed: Set<String> = []

    @Test func readsWhatIsWritten() throws {
        let folder = try TemporaryFolder()
        let detour = try OperationDetour { package in
            let path = folder.path("net.aimodel")
            try package.writeAIModel(to: path)
            return try raise(try MLPackage(contentsOfAIModel: path)).graph
        }
        #expect(detour.tried.subtracting(detour.kept) == Self.composed)
    }
}
