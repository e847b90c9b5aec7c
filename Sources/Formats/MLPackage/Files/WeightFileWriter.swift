import RetintFiles
import SystemPackage

/// Writes a weight file blob by blob; equal blobs are written once.
struct WeightFileWriter {
    /// The hash of all blobs, in the order in which they were written.
    private(set) var hash = ContentHash()
    private let file: FileWriter
    private var count: UInt32 = 0
    private var end = WeightFile.headerSize
    private var records: [Key: Int] = [:]

    /// Values with equal keys share a record.
    private struct Key: Hashable {
        var number: UInt32
        /// Packed values of different counts can have the same bytes.
        var elementCount: Int?
        var digest: [UInt8]
    }

    /// Creates the file; it must not exist.
    init(path: FilePath) throws {
        file = try FileWriter(creating: path)
        try file.write([UInt8](repeating: 0, count: WeightFile.headerSize))
    }

    /// Writes a value's elements unless equal ones are in the file; returns the offset of their
    /// record.
    mutating func append(_ value: MILValue) throws -> Int {
        guard let number = value.type.dataType.blobNumber else {
            throw BrokenRule("", "the weight file cannot hold \(value.type.dataType)")
        }
        var content = ContentHash()
        try value.forEachChunk { content.update($0) }
        let key = Key(
            number: number, elementCount: value.type.elementCount, digest: content.digest)
        if let record = records[key] { return record }
        let record = try write(value, number: number)
        records[key] = record
        hash.update(LittleEndian.bytes([UInt64(number)]) + key.digest)
        return record
    }

    private mutating func write(_ value: MILValue, number: UInt32) throws -> Int {
        let record = (end + WeightFile.alignment - 1) / WeightFile.alignment * WeightFile.alignment
        try file.write([UInt8](repeating: 0, count: record - end))
        try file.write(Self.record(value, number: number, at: record))
        end = record + WeightFile.recordSize
        try value.forEachChunk { chunk in
            try file.write(chunk)
            end += chunk.count
        }
        count += 1
        return record
    }

    private static func record(_ value: MILValue, number: UInt32, at offset: Int) -> [UInt8] {
        let size = value.type.byteCount ?? 0
        let used = (value.type.elementCount ?? 0) * (value.type.dataType.bitWidth ?? 0)
        let start = LittleEndian.bytes([UInt32(truncatingIfNeeded: WeightFile.sentinel), number])
        let rest = LittleEndian.bytes([size, offset + WeightFile.recordSize, size * 8 - used])
        let reserved = [UInt8](repeating: 0, count: WeightFile.recordSize - 32)
        return start + rest + reserved
    }

    /// Writes the header and waits until everything is on disk.
    func finish() throws {
        try file.rewind()
        try file.write(LittleEndian.bytes([count, UInt32(WeightFile.version)]))
        try file.finish()
    }
}

extension MILValue {
    /// Elements are converted and written this many at a time.
    private static var chunkLength: Int { 1 << 18 }

    /// Calls `body` with the bytes of the elements, chunk by chunk.
    package func forEachChunk(_ body: ([UInt8]) throws -> Void) throws {
        switch content {
        case .floats(let values):
            try Self.slices(of: values.count) { try body(LittleEndian.bytes(Array(values[$0]))) }
        case .halfs(let values):
            try Self.slices(of: values.count) { try body(LittleEndian.bytes(Array(values[$0]))) }
        case .blob(let blob):
            try Self.slices(of: blob.byteCount) {
                try body(try blob.bytes($0))
            }
        default: try body(try bytes())
        }
    }

    private static func slices(of count: Int, _ body: (Range<Int>) throws -> Void) rethrows {
        for start in stride(from: 0, to: count, by: chunkLength) {
            try body(start..<min(start + chunkLength, count))
        }
    }
}
