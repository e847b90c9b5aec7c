/// Measures what a file describes, apart from the elements of tensors, before it is parsed: a small
/// file can describe so many parts that they take a hundred times its size in memory.
struct StructureScan {
    private static let maximumBytes = 32 << 20
    private static let maximumParts = 1 << 20
    /// The parser refuses messages that are nested deeper.
    static let deepest = 64

    private enum Message {
        case model, graph, node, attribute, tensor, sparse, value, type, tensorType, shape

        /// The fields that are nested messages, by their numbers.
        var messages: [Int: Message] {
            switch self {
            case .model: [7: .graph]
            case .graph:
                [
                    1: .node, 5: .tensor, 11: .value, 12: .value, 13: .value, 15: .sparse,
                ]
            case .node: [5: .attribute]
            case .attribute: [5: .tensor, 6: .graph]
            case .sparse: [1: .tensor, 2: .tensor]
            case .value: [2: .type]
            case .type: [1: .tensorType]
            case .tensorType: [2: .shape]
            case .tensor, .shape: [:]
            }
        }

        /// The fields that hold a tensor's elements.
        var elements: Set<Int> { self == .tensor ? [4, 5, 7, 9, 10, 11] : [] }
    }

    private let bytes: [UInt8]
    private var elementBytes = 0
    /// Messages and texts.
    private var parts = 0

    /// - Throws: ``ONNXError`` if the file describes too much. Damage is left to the parser.
    static func check(_ bytes: [UInt8]) throws {
        var scan = StructureScan(bytes: bytes)
        scan.visit(0..<bytes.count, .model, depth: 0)
        guard bytes.count - scan.elementBytes <= maximumBytes, scan.parts <= maximumParts else {
            throw ONNXError(
                rule: "it describes too much for a network: over \(maximumBytes >> 20) MiB, or "
                    + "\(maximumParts) parts, besides the elements of its tensors",
                remedy: "Export the network without comments and debug information.")
        }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func visit(_ range: Range<Int>, _ message: Message, depth: Int) {
        let (messages, elements) = (message.messages, message.elements)
        var position = range.lowerBound
        while let field = field(at: &position, before: range.upperBound) {
            if elements.contains(field.number) {
                elementBytes += field.payload.count
                continue
            }
            if field.isDelimited { parts += 1 }
            if field.isDelimited, let part = messages[field.number], depth < Self.deepest {
                visit(field.payload, part, depth: depth + 1)
            }
        }
    }

    /// The next field; nil at the end or at damage.
    private func field(
        at position: inout Int, before end: Int
    ) -> (number: Int, payload: Range<Int>, isDelimited: Bool)? {
        guard let key = number(at: &position, before: end) else { return nil }
        let start = position
        switch key & 7 {
        case 0: guard number(at: &position, before: end) != nil else { return nil }
        case 1: position += 8
        case 5: position += 4
        case 2:
            guard let count = number(at: &position, before: end), count <= UInt64(end - position)
            else { return nil }
            defer { position += Int(count) }
            return (Int(key >> 3), position..<position + Int(count), true)
        case 3, 4: break  // The parser skips groups: their contents count here.
        default: return nil
        }
        return position <= end ? (Int(key >> 3), start..<position, false) : nil
    }

    private func number(at position: inout Int, before end: Int) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard position < end else { return nil }
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}
