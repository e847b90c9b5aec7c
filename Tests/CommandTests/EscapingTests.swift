import Testing

@testable import RetintCLI

@Suite struct EscapingTests {
    /// A carriage return and the line break after it are one `Character`.
    @Test(arguments: ["a\nFORGED", "a\r\nFORGED", "a\n\u{301}FORGED", "a\r\n\nFORGED\r\nFORGED"])
    func noNameBeginsALine(name: String) {
        for text in [name.withIndentedLines.escapedForTerminal, name.asMessage] {
            let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
            #expect(lines.dropFirst().allSatisfy { $0.starts(with: "  ".utf8) })
        }
    }

    /// A `Character` has any number of combining marks.
    @Test(arguments: ["a", "\u{301}", "a\u{200D}"])
    func messagesEnd(part: String) {
        let text = String(repeating: part, count: 100_000)
        #expect(text.asMessage.utf8.count < 64_000)
        #expect(text.asMessage.hasSuffix(" …"))
    }

    @Test(arguments: [0x61C, 0x200E, 0x202E, 0x2066, 0x2028, 0x1B, 0x9B, 0x7F])
    func whatTurnsOrMovesTextIsEscaped(scalar: UInt32) throws {
        let text = "a\(try #require(Unicode.Scalar(scalar)))b"
        #expect(text.escapedForTerminal == "a\\u{\(String(scalar, radix: 16))}b")
    }
}
