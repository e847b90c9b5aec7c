import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTestSupport
import Testing

@testable import RetintAIModel

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
        "PixelShuffle", "PixelUnshuffle", "Relu6", "ReluGradient",
    ]

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
