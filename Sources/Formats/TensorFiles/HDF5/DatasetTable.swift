import Foundation

/// Datasets as bytes, for passing them between two processes. JSON for the hundreds of datasets of
/// a network would take longer than libhdf5 itself.
enum DatasetTable {
    /// The bytes are not a table.
    struct Nonsense: Error {}

    static func encode(_ entries: [HDF5DatasetEntry]) throws -> [UInt8] {
        var writer = Writer()
        writer.number(UInt64(entries.count))
        for entry in entries { try writer.entry(entry) }
        return writer.bytes
    }

    /// - Throws: ``Nonsense`` for anything that ``encode(_:)`` does not write.
    static func decode(_ bytes: [UInt8]) throws -> [HDF5DatasetEntry] {
        var reader = Reader(bytes[...])
        let entries = try reader.list { reader throws in try reader.entry() }
        guard reader.rest.isEmpty else { throw Nonsense() }
        return entries
    }

    /// Numbers in 8 bytes; a text or a list begins with its count.
    private struct Writer {
        private(set) var bytes: [UInt8] = []

        mutating func number(_ value: UInt64) {
            withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
        }

        mutating func numbers(_ values: [UInt64]) {
            number(UInt64(values.count))
            for value in values { number(value) }
        }

        mutating func text(_ text: some Collection<UInt8>) {
            number(UInt64(text.count))
            bytes += text
        }

        /// Rare parts of many kinds.
        mutating func json(_ value: some Encodable) throws {
            text(try ReaderChannel.encoder.encode(value))
        }

        mutating func entry(_ entry: HDF5DatasetEntry) throws {
            number(UInt64(entry.names.count))
            for name in entry.names { text(name.utf8) }
            guard let description = entry.description else {
                number(0)
                return try json(entry.error)
            }
            number(1)
            numbers(description.extents)
            number(UInt64(StoredType.allCases.firstIndex(of: description.type.stored) ?? 0))
            number(description.type.isBigEndian ? 1 : 0)
            number(description.storedBytes)
            try layout(description.layout)
        }

        private mutating func layout(_ layout: HDF5DatasetDescription.Layout) throws {
            switch layout {
            case .compact: number(0)
            case .contiguous(let offset):
                number(1)
                number(offset)
            case .chunked(let extents, let filters):
                number(2)
                numbers(extents)
                try json(filters)
            }
        }
    }

    private struct Reader {
        private(set) var rest: ArraySlice<UInt8>

        init(_ rest: ArraySlice<UInt8>) { self.rest = rest }

        private mutating func number() throws -> UInt64 {
            let bytes = try take(8)
            return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }

        private mutating func flag() throws -> Bool { try number(below: 2) == 1 }

        private mutating func number(below limit: Int) throws -> Int {
            guard let value = Int(exactly: try number()), value < limit else {
                throw Nonsense()
            }
            return value
        }

        private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
            guard count <= rest.count else { throw Nonsense() }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }

        /// Every element takes 8 bytes at least.
        mutating func list<Element>(
            _ element: (inout Reader) throws -> Element
        ) throws -> [Element] {
            let count = try number(below: rest.count / 8 + 1)
            var elements: [Element] = []
            elements.reserveCapacity(count)
            for _ in 0..<count { elements.append(try element(&self)) }
            return elements
        }

        private mutating func text() throws -> ArraySlice<UInt8> {
            try take(number(below: rest.count + 1))
        }

        private mutating func json<Value: Decodable>(_: Value.Type) throws -> Value {
            try ReaderChannel.decoder.decode(Value.self, from: Data(text()))
        }

        mutating func entry() throws -> HDF5DatasetEntry {
            let names = try list { reader throws in
                guard let name = String(validating: try reader.text(), as: UTF8.self) else {
                    throw Nonsense()
                }
                return name
            }
            guard try flag() else {
                return HDF5DatasetEntry(
                    names: names, description: nil, error: try json(TensorFileError?.self))
            }
            let extents = try list { reader throws in try reader.number() }
            let stored = StoredType.allCases[try number(below: StoredType.allCases.count)]
            let type = HDF5ElementType(stored, isBigEndian: try flag())
            let description = HDF5DatasetDescription(
                extents: extents, type: type, storedBytes: try number(), layout: try layout())
            return HDF5DatasetEntry(names: names, description: description, error: nil)
        }

        private mutating func layout() throws -> HDF5DatasetDescription.Layout {
            switch try number(below: 3) {
            case 0: return .compact
            case 1: return .contiguous(offset: try number())
            default:
                let extents = try list { reader throws in try reader.number() }
                return .chunked(extents: extents, try json(HDF5Filters.self))
            }
        }
    }
}
