import Foundation
import RetintGraph
import RetintONNXWriting
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintONNXReading

/// The list of supported operations.
@Suite struct OperationFormsTests {
    @Test func listsWhatTheSourcesDeclare() throws {
        let declared = try SourceDeclarations(of: "Sources/Formats/ONNXReading")
            .types(adopting: "OperationFamily")
        #expect(OperationForms.all.map { "\($0)" } == declared.sorted())
    }

    /// These are written as other operations.
    private static let composed: Set = ["HardSwish", "LogSoftmax", "Negate", "Relu6"]

    @Test func readsWhatIsWritten() throws {
        let folder = try TemporaryFolder()
        let detour = try OperationDetour { package in
            let path = folder.path("net.onnx")
            try ONNXNetwork(package).write(to: path)
            let model = try ONNXModel(contentsOf: path)
            let graph = Graph()
            let inputs = model.inputs.map { input in
                let shape = Shape(input.extents!.compactMap(\.self))
                return (input.name, ONNXValue.tensor(graph.input(input.name, shape), input.type))
            }
            _ = try model.build(in: graph, inputs: Dictionary(uniqueKeysWithValues: inputs))
            return graph
        }
        #expect(detour.tried.subtracting(detour.kept) == Self.composed)
    }

    /// The article has a row for each family: the table after `<!-- operations of ONNX -->`.
    @Test func theArticleHasAllOperations() throws {
        let article = packageRoot.appending(
            path: "Sources/Retint/Retint/Retint.docc/Tasks/ImportONNX.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let start = try #require(text.range(of: "<!-- operations of ONNX -->")?.upperBound)
        let rows = text[start...].split(separator: "\n").drop { !$0.hasPrefix("|") }
            .prefix { $0.hasPrefix("|") }.dropFirst(2)
        let expected = OperationForms.all.map { family in
            let operations = family.rules.keys.sorted().map { "`\($0)`" }
            return "| \(title(of: family)) | \(operations.joined(separator: ", ")) |"
        }
        #expect(rows.map(String.init) == expected, "\(expected.joined(separator: "\n"))")
    }

    /// `Matrix products` for `MatrixProducts`.
    private func title(of family: any OperationFamily.Type) -> String {
        "\(family)".reduce(into: "") { words, letter in
            let beginsWord = letter.isUppercase && !words.isEmpty
            words += beginsWord ? " " + letter.lowercased() : "\(letter)"
        }
    }
}
