import RetintFiles

/// The sections of a bytecode file. All but the resources are read into memory.
struct BytecodeSections {
    enum Kind: Int, CaseIterable {
        case strings, dialects, encodings, encodingOffsets, operations, resources
        case resourceOffsets, dialectVersions, properties
    }

    /// The version of the format that is read and written.
    static let version: UInt64 = 6
    static let magic: [UInt8] = [0x4D, 0x4C, 0xEF, 0x52]
    /// The padding byte before aligned data.
    static let padding: UInt8 = 0xCB

    /// The sections without resources of a real model have less than 1 MB.
    private static let maximumBytes = 32 << 20
    private static let maximumProducerBytes = 256
    private static let maximumAlignment: UInt64 = 1 << 16
    /// The longest start of a section: its number and two variable-width numbers.
    private static let headerBytes = 1 + 9 + 9

    private(set) var producer = ""
    private var ranges: [Kind: Range<Int>] = [:]
    private let file: RegularFile

    init(_ file: RegularFile) throws {
        self.file = file
        var position = try readHeader()
        while position < file.byteCount { position = try readSection(at: position) }
        let total = ranges.filter { $0.key != .resources }.reduce(0) { $0 + $1.value.count }
        guard total <= Self.maximumBytes else {
            throw BytecodeError(
                offset: 0,
                "its sections without resources have \(total) bytes; at most "
                    + "\(Self.maximumBytes) are read")
        }
    }

    /// A section's bytes; an absent one is empty, but for those that every file has.
    func cursor(_ kind: Kind) throws -> ByteCursor {
        guard let range = ranges[kind] else {
            guard [.resourceOffsets, .properties].contains(kind) else {
                throw BytecodeError(offset: 0, "the section of \(kind) is missing")
            }
            return ByteCursor([], offset: file.byteCount)
        }
        return ByteCursor(try bytes(range), offset: range.lowerBound)
    }

    /// The range of the resources in the file.
    var resources: Range<Int> { ranges[.resources] ?? file.byteCount..<file.byteCount }

    /// Some bytes of the file.
    func bytes(_ range: Range<Int>) throws -> [UInt8] {
        let bytes = try file.bytes(at: range.lowerBound, count: range.count)
        guard bytes.count == range.count else {
            throw BytecodeError(offset: range.lowerBound + bytes.count, "the file ends too early")
        }
        return bytes
    }

    private mutating func readHeader() throws -> Int {
        let count = Self.magic.count + 9 + Self.maximumProducerBytes
        var cursor = ByteCursor(
            try bytes(0..<min(count, file.byteCount)), offset: 0)
        guard cursor.remaining >= Self.magic.count,
            try Array(cursor.take(Self.magic.count)) == Self.magic
        else { throw BytecodeError(offset: 0, "it is not MLIR bytecode") }
        let version = try cursor.unsigned()
        guard version == Self.version else {
            throw BytecodeError(
                offset: Self.magic.count,
                "its bytecode has version \(version); version \(Self.version) is read")
        }
        let start = cursor.offset
        var name: [UInt8] = []
        while name.count < Self.maximumProducerBytes {
            let byte = try cursor.byte()
            guard byte != 0 else {
                producer = String(decoding: name, as: UTF8.self)
                return cursor.offset
            }
            name.append(byte)
        }
        throw BytecodeError(
            offset: start, "the producer's name is longer than \(Self.maximumProducerBytes) bytes")
    }

    /// Reads the start of a section; returns its end.
    private mutating func readSection(at start: Int) throws -> Int {
        let header = start..<min(start + Self.headerBytes, file.byteCount)
        var cursor = ByteCursor(try bytes(header), offset: start)
        let first = try cursor.byte()
        guard let kind = Kind(rawValue: Int(first & 0x7F)), ranges[kind] == nil else {
            throw BytecodeError(
                offset: start, "section \(first & 0x7F) is unknown or occurs twice")
        }
        let length = try cursor.unsigned()
        let alignment = first & 0x80 == 0 ? 1 : try cursor.unsigned()
        guard alignment <= Self.maximumAlignment, alignment.nonzeroBitCount == 1 else {
            throw BytecodeError(offset: start, "the alignment \(alignment) is not supported")
        }
        let data = (cursor.offset + Int(alignment) - 1) / Int(alignment) * Int(alignment)
        guard data <= file.byteCount, length <= UInt64(file.byteCount - data) else {
            throw BytecodeError(
                offset: start, "the section of \(kind) reaches beyond the end of the file")
        }
        ranges[kind] = data..<data + Int(length)
        return data + Int(length)
    }
}
