/// Parses the text of a header: a Python dictionary with the keys `descr`, `fortran_order` and
/// `shape`, in any order.
///
/// Python's grammar allows more; everything else is refused at the first byte that differs.
struct NumPyHeaderParser {
    struct Fields {
        let type: String
        let isFortranOrder: Bool
        let extents: [UInt64]
    }

    private let text: [UInt8]
    private let place: FilePlace
    private var position = 0

    static func fields(
        of text: [UInt8], _ place: FilePlace
    ) throws(TensorFileError) -> Fields {
        var parser = NumPyHeaderParser(text: text, place: place)
        return try parser.fields()
    }

    private init(text: [UInt8], place: FilePlace) { (self.text, self.place) = (text, place) }

    private mutating func fields() throws(TensorFileError) -> Fields {
        var type: String?
        var order: Bool?
        var extents: [UInt64]?
        try expect("{")
        while !take("}") {
            let key = try string()
            try expect(":")
            switch key {
            case "descr" where type == nil: type = try string()
            case "fortran_order" where order == nil: order = try boolean()
            case "shape" where extents == nil: extents = try tuple()
            default: throw error("the key \(key.debugDescription) is unknown or duplicated")
            }
            guard take(",") || isNext("}") else { throw error("\",\" or \"}\" is expected here") }
        }
        skipBlanks()
        guard position == text.count else { throw error("the header should end here") }
        guard let type, let order, let extents else {
            throw place.error(.damaged, "its header lacks descr, fortran_order or shape")
        }
        return Fields(type: type, isFortranOrder: order, extents: extents)
    }

    private func error(_ problem: String) -> TensorFileError {
        place.error(.damaged, "byte \(position) of its header: \(problem)")
    }

    private mutating func expect(_ mark: Character) throws(TensorFileError) {
        guard take(mark) else { throw error("\"\(mark)\" is expected here") }
    }

    private mutating func take(_ mark: Character) -> Bool {
        guard isNext(mark) else { return false }
        position += 1
        return true
    }

    private mutating func isNext(_ mark: Character) -> Bool {
        skipBlanks()
        return position < text.count && text[position] == mark.asciiValue
    }

    private mutating func skipBlanks() {
        while position < text.count, [0x20, 0x0a].contains(text[position]) { position += 1 }
    }

    /// A string without escapes. The type of records is a list instead.
    private mutating func string() throws(TensorFileError) -> String {
        guard take("'") else {
            throw error("a name in quotes is expected here; arrays of records are not supported")
        }
        let rest = text[position...]
        guard let end = rest.firstIndex(of: UInt8(ascii: "'")) else {
            throw error("the string does not end")
        }
        position = end + 1
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private mutating func boolean() throws(TensorFileError) -> Bool {
        skipBlanks()
        for (word, value) in [("True", true), ("False", false)]
        where text[position...].starts(with: word.utf8) {
            position += word.utf8.count
            return value
        }
        throw error("True or False is expected here")
    }

    /// `()`, `(3,)` or `(3, 4)`.
    private mutating func tuple() throws(TensorFileError) -> [UInt64] {
        try expect("(")
        var extents: [UInt64] = []
        while !take(")") {
            extents.append(try number())
            // One extent needs its comma, as a Python tuple does.
            guard take(",") || extents.count > 1 && isNext(")") else {
                throw error("\",\" is expected here")
            }
        }
        return extents
    }

    private mutating func number() throws(TensorFileError) -> UInt64 {
        skipBlanks()
        let digits = text[position...].prefix { (0x30...0x39).contains($0) }
        guard let value = UInt64(String(decoding: digits, as: UTF8.self)) else {
            throw error("a number from 0 to 2^64 - 1 is expected here")
        }
        position += digits.count
        return value
    }
}
