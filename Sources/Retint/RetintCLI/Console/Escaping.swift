/// Text from files and arguments may contain characters that move the cursor, change colors or
/// reverse the writing direction. On a terminal they could hide or forge retint's output.
extension String {
    /// The text with control characters as `\u{1b}`. Line breaks and tabs stay.
    var escapedForTerminal: String { escaped { "\\u{\(String($0, radix: 16))}" } }

    /// JSON in which the same characters are escaped in strings.
    var escapedForJSON: String {
        escaped { code in
            let digits = String(code, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    private func escaped(_ escape: (UInt32) -> String) -> String {
        guard unicodeScalars.contains(where: \.isHostile) else { return self }
        return unicodeScalars.map { $0.isHostile ? escape($0.value) : String($0) }.joined()
    }

    /// The text as one message: further lines are indented, so that none of them looks like another
    /// message, and text that is too long to read is truncated.
    var asMessage: String {
        // Not in characters, one of which may have any number of combining marks.
        let start = unicodeScalars.prefix(Self.longestMessage)
        let text = start.endIndex < endIndex ? String(Substring(start)) + " …" : self
        return text.escapedForTerminal.withIndentedLines
    }

    /// The text with all lines except the first indented.
    var withIndentedLines: String {
        // Not by characters, one of which is a carriage return with a line break after it.
        unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String(Substring($0)) }.joined(separator: "\n  ")
    }

    private static let longestMessage = 16_000
}

extension Unicode.Scalar {
    /// Control characters except line breaks and tabs; line and paragraph separators; direction
    /// marks and overrides.
    fileprivate var isHostile: Bool {
        switch value {
        case 0x09, 0x0a: false
        case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
