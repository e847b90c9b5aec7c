/// Any JSON value.
///
/// Numbers have the bits that they were encoded from: those of whole numbers beyond 2⁵³ as well.
enum JSONTree: Hashable, Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    /// A whole number that a double does not hold.
    case integer(Int64)
    case natural(UInt64)
    case text(String)
    case list([JSONTree])
    case object([String: JSONTree])
}

extension JSONTree: Codable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private static let exactRange = -0x1p53...0x1p53

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Key.self) {
            let pairs = try container.allKeys.map { key in
                (key.stringValue, try container.decode(JSONTree.self, forKey: key))
            }
            self = .object(Dictionary(pairs) { first, _ in first })
        } else if var container = try? decoder.unkeyedContainer() {
            var list: [JSONTree] = []
            while !container.isAtEnd { list.append(try container.decode(JSONTree.self)) }
            self = .list(list)
        } else {
            self = try Self.scalar(decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONTree {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .boolean(value) }
        if let value = try? container.decode(Double.self) {
            if exactRange.contains(value) { return .number(value) }
            if let whole = try? container.decode(Int64.self) { return .integer(whole) }
            if let whole = try? container.decode(UInt64.self) { return .natural(whole) }
            return .number(value)
        }
        return .text(try container.decode(String.self))
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let values):
            var container = encoder.container(keyedBy: Key.self)
            for (name, value) in values {
                try container.encode(value, forKey: Key(stringValue: name))
            }
        case .list(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .boolean(let value): try value.encode(to: encoder)
        case .number(let value): try value.encode(to: encoder)
        case .integer(let value): try value.encode(to: encoder)
        case .natural(let value): try value.encode(to: encoder)
        case .text(let value): try value.encode(to: encoder)
        }
    }
}

extension JSONTree: CustomStringConvertible {
    /// A number, a text or another short value as JSON has it; a list or an object by its size.
    var description: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .number(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .natural(let value): "\(value)"
        case .text(let value): value
        case .list(let values): "a list of \(values.count)"
        case .object(let values): "an object with \(values.count) keys"
        }
    }
}
