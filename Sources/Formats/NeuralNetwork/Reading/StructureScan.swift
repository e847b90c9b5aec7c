import RetintMLPackage

/// Counts the layers of a file, and the messages and texts in them, before it is parsed: a small
/// file can describe so many that they take a hundred times its size in memory.
struct StructureScan {
    private static let maximumParts = 1 << 20

    private enum Message {
        case model, network, layer, other

        /// The kind of message in a field.
        func message(_ number: UInt64) -> Message {
            switch (self, number) {
            case (.model, 303), (.model, 403), (.model, 500): .network
            case (.network, 1): .layer
            default: .other
            }
        }
    }

    private let bytes: [UInt8]
    private var parts = 0

    /// - Throws: `MLPackageError` if the file describes too much. Damage is left to the parser.
    static func check(_ bytes: [UInt8]) throws {
        var scan = StructureScan(bytes: bytes)
        scan.visit(0..<bytes.count, .model, depth: 0)
        guard scan.parts <= maximumParts else {
            throw MLPackageError(
                file: "", place: "", rule: "it describes more than \(maximumParts) parts",
                remedy: "Convert the network again.")
        }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func visit(_ range: Range<Int>, _ message: Message, depth: Int) {
        var position = range.lowerBound
        while position < range.upperBound, parts <= Self.maximumParts {
            guard let key = number(&position, range.upperBound) else { return }
            switch key & 7 {
            case 0: guard number(&position, range.upperBound) != nil else { return }
            case 1: position += 8
            case 5: position += 4
            case 2:
                guard let count = number(&position, range.upperBound),
                    count <= UInt64(range.upperBound - position)
                else { return }
                parts += 1
                let payload = position..<position + Int(count)
                position = payload.upperBound
                // The elements of weights are not looked into.
                let isElements = message == .other && [1, 2, 30, 31].contains(key >> 3)
                if depth < 8, !isElements || count <= 1 << 10 {
                    visit(payload, message.message(key >> 3), depth: depth + 1)
                }
            case 3, 4: parts += 1
            default: return
            }
        }
    }

    private func number(_ position: inout Int, _ end: Int) -> UInt64? {
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
