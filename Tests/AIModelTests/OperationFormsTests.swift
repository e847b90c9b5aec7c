import RetintMIL
import RetintMLPackage
import RetintOperationCases
import RetintPackageSupport
import RetintTestSupport
import Testing

@testable import RetintAIModel

extension OperationTable {
    /// The exported cases without those of computed positions, which are not written yet.
    static let ofAIModel = exported.filter { testCase in
        let refused: Set = ["argsort", "gather_along_axis", "scatter_along_axis"]
        return refused.isDisjoint(with: testCase.mil ?? [])
    }
}

/// The list of operations that are written to `.aimodel` and read from it.
@Suite struct OperationFormsTests {
    @Test func listsWhatTheSourcesDeclare() throws {
        let declared = try SourceDeclarations(of: "Sources/Formats/AIModel")
            .types(adopting: "OperationFamily")
        #expect(OperationForms.all.map { "\($0)" } == declared.sorted())
    }

    /// The dialect does not have these: they are written as other operations.
    private static let composed: Set = [
        "BatchNormInference", "Clip", "GreaterOrEqual", "HardSwish", "LeakyRelu", "LogSoftmax",
        "Negate",
        "PixelShuffle", "PixelUnshuffle", "Relu6",
    ]

    @Test func readsWhatIsWritten() throws {
        let folder = try TemporaryFolder()
        let detour = try OperationDetour(of: OperationTable.ofAIModel) { package in
            let path = folder.path("net.aimodel")
            try package.writeAIModel(to: path)
            return try raise(try MLPackage(contentsOfAIModel: path)).graph
        }
        #expect(detour.tried.subtracting(detour.kept) == Self.composed)
    }
}
