import Foundation
import RetintCoreMLProto
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

    /// The layers of the recorded networks, by their types.
    private static func recorded() throws -> Set<String> {
        let names = ["exact", "rank5", "unet", "generator"]
        let networks = try names.map { name in
            try ProtoModel(
                serializedBytes: Data(contentsOf: URL(filePath: goldenPath("\(name).mlmodel"))))
        }
        let layers = networks.flatMap(\.neuralNetwork.layers).compactMap(\.layer)
        return Set(layers.compactMap { Mirror(reflecting: $0).children.first?.label })
    }

    @Test func eachLayerIsComparedWithPyTorch() throws {
        #expect(Set(LayerForms.readers.keys).subtracting(try Self.recorded()) == [])
    }

    @Test func theArticleNamesAllLayers() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let article = try String(
            contentsOf: root.appending(
                path: "Sources/Retint/Retint/Retint.docc/Tasks/ReadOlderModels.md"),
            encoding: .utf8)
        let table = article.components(separatedBy: "| family | layers |")[1]
            .components(separatedBy: "\n\n")[0]
        let words = table.components(separatedBy: "`").enumerated()
            .filter { $0.offset % 2 == 1 }.map { $0.element.lowercased() }
        #expect(words.sorted() == LayerForms.readers.keys.map { $0.lowercased() }.sorted())
    }
}
