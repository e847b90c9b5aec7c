import Foundation

/// Writes a weight file blob by blob; equal blobs are written once.
struct WeightFileWriter {
    let path: String
    private(set) var count: UInt32 = 0
    private(set) var fingerprint = Fingerprint()
    private var handle: FileHandle
    private var end = WeightFile.headerSize
    private var known: [Key: [Known]] = [:]

    private struct Key: Hashable {
        var number: UInt32
        var fingerprint: Fingerprint
    }

    private struct Known {
        var record: Int
        var value: MILValue
    }

    /// Creates the file; it must not exist.
    init(path: String) throws {
        self.path = path
        handle = try StagedDirectory.createFile(path)
        try handle.write(contentsOf: [UInt8](repeating: 0, count: WeightFile.headerSize))
    }

    /// Writes a value's elements unless they stand there already; returns where their record
    /// starts.
    mutating func append(_ value: MILValue) throws -> Int {
        guard let number = value.type.dataType.blobNumber else {
            throw Fault("", "the weight file cannot hold \(value.type.dataType)")
        }
        var content = Fingerprint()
        try value.forEachChunk { content.combine($0) }
        let key = Key(number: number, fingerprint: content)
        for earlier in known[key, default: []] where try earlier.value.hasSameBytes(as: value) {
            return earlier.record
        }
        let record = try write(value, number: number)
        known[key, default: []].append(Known(record: record, value: value))
        fingerprint.combine(LittleEndian.bytes([UInt64(number)] + content.words))
        return record
    }

    private mutating func write(_ value: MILValue, number: UInt32) throws -> Int {
        let record = (end + WeightFile.alignment - 1) / WeightFile.alignment * WeightFile.alignment
        try handle.write(contentsOf: [UInt8](repeating: 0, count: record - end))
        try handle.write(contentsOf: Self.record(value, number: number, at: record))
        end = record + WeightFile.recordSize
        try value.forEachChunk { chunk in
            try handle.write(contentsOf: chunk)
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
    mutating func finish() throws {
        try handle.seek(toOffset: 0)
        try handle.write(contentsOf: LittleEndian.bytes([count, UInt32(WeightFile.version)]))
        try handle.synchronize()
        try handle.close()
    }
}

extension MILValue {
    /// Elements are converted and written this many at a time.
    private static var chunkLength: Int { 1 << 18 }

    /// The bytes of the elements, piece by piece.
    func forEachChunk(_ body: ([UInt8]) throws -> Void) throws {
        switch content {
        case .floats(let values):
            try Self.slices(of: values.count) { try body(LittleEndian.bytes(Array(values[$0]))) }
        case .halfs(let values):
            try Self.slices(of: values.count) { try body(LittleEndian.bytes(Array(values[$0]))) }
        case .blob(let blob):
            try Self.slices(of: blob.byteCount) {
                try body(try blob.file.read(at: blob.offset + $0.lowerBound, count: $0.count))
            }
        default: try body(try bytes())
        }
    }

    private static func slices(of count: Int, _ body: (Range<Int>) throws -> Void) rethrows {
        for start in stride(from: 0, to: count, by: chunkLength) {
            try body(start..<min(start + chunkLength, count))
        }
    }

    /// Whether two values of one type number are stored alike.
    fileprivate func hasSameBytes(as other: MILValue) throws -> Bool {
        if content == other.content { return true }
        guard type.byteCount == other.type.byteCount else { return false }
        return try bytes() == other.bytes()
    }
}
