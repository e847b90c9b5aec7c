import Foundation
import Testing

@testable import RetintONNXReading

/// The list of operations that are read.
@Suite struct TableTests {
    @Test func noOperationIsInTwoFamilies() {
        let names = ONNXOperations.table.flatMap(\.operations)
        #expect(Set(names).count == names.count)
        #expect(Set(names) == Set(ONNXOperations.rules.keys))
    }

    /// The article has a row for each family: the table after `<!-- operations of ONNX -->`.
    @Test func theArticleHasAllOperations() throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let article = root.appending(path: "Sources/Retint/Retint/Retint.docc/Tasks/ImportONNX.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let start = try #require(text.range(of: "<!-- operations of ONNX -->")?.upperBound)
        let rows = text[start...].split(separator: "\n").drop { !$0.hasPrefix("|") }
            .prefix { $0.hasPrefix("|") }.dropFirst(2)
        let expected = ONNXOperations.table.map { family, operations in
            "| \(family) | \(operations.map { "`\($0)`" }.joined(separator: ", ")) |"
        }
        #expect(rows.map(String.init) == expected, "\(expected.joined(separator: "\n"))")
    }
}
