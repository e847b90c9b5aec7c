import RetintTestSupport
import Testing

@testable import RetintNeuralNetwork

/// The list of layers that are read.
@Suite struct LayerFormsTests {
    @Test func listsWhatTheSourcesDeclare() throws {
        let declared = try SourceDeclarations(of: "Sources/Formats/NeuralNetwork")
            .types(adopting: "LayerFamily")
        #expect(LayerForms.all.map { "\($0)" } == declared.sorted())
    }
}
