/// The words, texts and signs of a program in MIL's text form.
struct MILTokens {
    enum Token: Equatable {
        /// A name, a number or a keyword.
        case word(String)
        case text(String)
        case sign(UInt8)
        case end
    }

    private let bytes: [UInt8]
    private var position = 0
    /// The line of the next token, counted from 1.
    private(set) var line = 1
    private(set) var next = Token.end

    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        next = try read()
    }

    func error(_ rule: String) -> BrokenRule { BrokenRule("line \(line)", rule) }

    /// Takes the next token.
    mutating func take() throws -> Token {
        let token = next
        next = try read()
        return token
    }

    /// Takes a sign if it is next.
    mutating func takes(_ sign: Character) throws -> Bool {
        guard next == .sign(sign.asciiValue ?? 0) else { return false }
        next = try read()
        return true
    }

    mutating func expect(_ signs: String) throws {
        for sign in signs where try !takes(sign) {
            throw error("\"\(sign)\" is expected instead of \(next)")
        }
    }

    mutating func word() throws -> String {
        guard case .word(let word) = try take() else { throw error("a name or number is expected") }
        return word
    }

    mutating func expect(word: String) throws {
        guard try self.word() == word else { throw error("\"\(word)\" is expected") }
    }

    /// Skips what is between brackets of any kind, the first of which is next.
    mutating func skipBrackets() throws {
        var depth = 0
        repeat {
            switch try take() {
            case .sign(UInt8(ascii: "(")), .sign(UInt8(ascii: "[")), .sign(UInt8(ascii: "{")):
                depth += 1
            case .sign(UInt8(ascii: ")")), .sign(UInt8(ascii: "]")), .sign(UInt8(ascii: "}")):
                depth -= 1
            case .end: throw error("it ends within brackets")
            default: break
            }
        } while depth > 0
    }

    private mutating func read() throws -> Token {
        skipSpace()
        guard position < bytes.count else { return .end }
        let byte = bytes[position]
        if byte == UInt8(ascii: "\"") { return .text(try text()) }
        guard Self.isWord(byte) else {
            position += 1
            return .sign(byte)
        }
        let start = position
        while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
        // An arrow is two signs.
        if bytes[start..<position].elementsEqual([UInt8(ascii: "-")]) { return .sign(byte) }
        return .word(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\n"):
                line += 1
                position += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): position += 1
            case UInt8(ascii: "/")
            where position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: "/"):
                while position < bytes.count, bytes[position] != UInt8(ascii: "\n") {
                    position += 1
                }
            default: return
            }
        }
    }

    private mutating func text() throws -> String {
        var content: [UInt8] = []
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"): content.append(try escaped())
            default:
                if byte == UInt8(ascii: "\n") { line += 1 }
                content.append(byte)
            }
        }
        throw error("a text does not end")
    }

    private mutating func escaped() throws -> UInt8 {
        guard position < bytes.count else { throw error("a text does not end") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return UInt8(ascii: "\n")
        case UInt8(ascii: "t"): return UInt8(ascii: "\t")
        case UInt8(ascii: "r"): return UInt8(ascii: "\r")
        case UInt8(ascii: "0"): return 0
        case UInt8(ascii: "x"):
            let digits = bytes[position..<min(position + 2, bytes.count)]
            guard let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) else {
                throw error("\\x needs two digits")
            }
            position += digits.count
            return value
        default: return byte
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "@"),
            UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"):
            true
        default: byte >= 0x80
        }
    }
}

extension MILTokens.Token: CustomStringConvertible {
    var description: String {
        switch self {
        case .word(let word): "\"\(word.prefix(40))\""
        case .text: "a text"
        case .sign(let byte): "\"\(Character(UnicodeScalar(byte)))\""
        case .end: "the end"
        }
    }
}
