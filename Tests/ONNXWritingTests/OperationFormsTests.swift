import RetintTestSupport
import Testing

@testable import RetintONNXWriting

/// The list of operations that are written as ONNX.
@Suite struct OperationFormsTests {
    @Test func listsWhatTheSourcesDeclare() throws {
        let declared = try SourceDeclarations(of: "Sources/Formats/ONNXWriting")
            .types(adopting: "OperationFamily")
        #expect(OperationForms.all.map { "\($0)" } == declared.sorted())
    }
}
