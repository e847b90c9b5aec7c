/// A position in a JSON text that is parsed token by token.
///
/// Foundation's decoder accepts duplicate keys and builds the whole tree in memory; this one parses
/// only the expected structure and fails at the first byte that differs.
struct JSONCursor {
    private let bytes: [UInt8]
    private let path: String
    private(set) var position = 0

    init(_ bytes: [UInt8], path: String) {
        self.bytes = bytes
        self.path = path
    }

    var isAtEnd: Bool { position == bytes.count }

    func error(_ problem: String) -> TensorFileError {
        TensorFileError(.damaged, path: path, place: "header byte \(position)", problem)
    }

    /// Consumes a punctuation character after any whitespace.
    mutating func expect(_ mark: Character) throws(TensorFileError) {
        guard take(mark) else { throw error("\"\(mark)\" is expected here") }
    }

    /// Consumes a punctuation character if it is next.
    mutating func take(_ mark: Character) -> Bool {
        skipBlanks()
        guard position < bytes.count, bytes[position] == mark.asciiValue else { return false }
        position += 1
        return true
    }

    mutating func skip(_ byte: UInt8) {
        while position < bytes.count, bytes[position] == byte { position += 1 }
    }

    private mutating func skipBlanks() {
        while position < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) {
            position += 1
        }
    }

    /// Parses an object; `member` parses the value of each key.
    mutating func object(
        _ member: (inout JSONCursor, _ key: String) throws(TensorFileError) -> Void
    ) throws(TensorFileError) {
        try expect("{")
        guard !take("}") else { return }
        repeat {
            let key = try string()
            try expect(":")
            try member(&self, key)
        } while take(",")
        try expect("}")
    }

    /// Parses an array of non-negative integers.
    ///
    /// - Parameter limit: The maximum count.
    mutating func numbers(limit: Int) throws(TensorFileError) -> [UInt64] {
        try expect("[")
        guard !take("]") else { return [] }
        var numbers: [UInt64] = []
        repeat {
            guard numbers.count < limit else { throw error("over \(limit) numbers in a list") }
            numbers.append(try number())
        } while take(",")
        try expect("]")
        return numbers
    }

    /// Parses an integer from 0 to 2^64 − 1 without leading zeros.
    private mutating func number() throws(TensorFileError) -> UInt64 {
        skipBlanks()
        let digits = bytes[position...].prefix(21).prefix { (0x30...0x39).contains($0) }
        let text = String(decoding: digits, as: UTF8.self)
        guard let value = UInt64(text), String(value) == text else {
            throw error("a whole number from 0 to 2^64 - 1 is expected here")
        }
        position += digits.count
        return value
    }
}

/// Strings.
extension JSONCursor {
    /// Parses a quoted string.
    ///
    /// - Parameter limit: the most bytes; names are copied into every message about them.
    mutating func string(
        limit: Int = FilePlace.longestName
    ) throws(TensorFileError) -> String {
        skipBlanks()
        guard position < bytes.count, bytes[position] == Self.quote else {
            throw error("a string in quotes is expected here")
        }
        position += 1
        var text: [UInt8] = []
        while true {
            let plain = bytes[position...].prefix {
                $0 != Self.quote && $0 != Self.backslash && $0 >= 0x20
            }
            text += plain
            position += plain.count
            guard text.count <= limit else {
                throw error("there is a name of more than \(limit) bytes")
            }
            guard position < bytes.count else { throw error("the header ends within a string") }
            switch bytes[position] {
            case Self.quote:
                position += 1
                return try decoded(text)
            case Self.backslash: try escape(into: &text)
            default: throw error("there is a control character in a string")
            }
        }
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    /// The characters that follow a backslash, and what they encode.
    private static let escapes: [UInt8: UInt8] = [
        quote: quote, backslash: backslash, UInt8(ascii: "/"): UInt8(ascii: "/"),
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0c, UInt8(ascii: "n"): 0x0a,
        UInt8(ascii: "r"): 0x0d, UInt8(ascii: "t"): 0x09,
    ]

    private func decoded(_ text: [UInt8]) throws(TensorFileError) -> String {
        guard let string = String(validating: text, as: UTF8.self) else {
            throw error("the string before is not UTF-8")
        }
        return string
    }

    private mutating func escape(into text: inout [UInt8]) throws(TensorFileError) {
        let letter = position + 1 < bytes.count ? bytes[position + 1] : 0
        if letter == UInt8(ascii: "u") {
            text += Array(String(try scalar()).utf8)
        } else if let byte = Self.escapes[letter] {
            position += 2
            text.append(byte)
        } else {
            throw error("there is an unknown escape in a string")
        }
    }

    /// Parses `\uXXXX`, or two of them that form a surrogate pair.
    private mutating func scalar() throws(TensorFileError) -> Unicode.Scalar {
        let first = try unit()
        guard (0xd800..<0xdc00).contains(first) else {
            guard let scalar = Unicode.Scalar(first) else { throw error("half a character") }
            return scalar
        }
        let second = try unit()
        guard (0xdc00..<0xe000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { throw error("half a character") }
        return scalar
    }

    private mutating func unit() throws(TensorFileError) -> UInt32 {
        let digits = bytes[position...].prefix(6)
        let text = String(decoding: digits.dropFirst(2), as: UTF8.self)
        guard digits.count == 6, digits.starts(with: [Self.backslash, UInt8(ascii: "u")]),
            text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt32(text, radix: 16)
        else { throw error("\\u needs four hexadecimal digits") }
        position += 6
        return unit
    }
}
