import RetintFiles

/// The bytes of a file in a range, one after another.
struct PickleInput {
    let file: RegularFile
    /// The source, for errors: a record of an archive, or a part of a stream.
    let place: FilePlace
    /// The offset in the file of the next byte.
    private(set) var offset: Int
    private let start: Int
    private let end: Int
    /// Bytes of the file that were read ahead.
    private var buffer: [UInt8] = []
    private var bufferStart = 0

    private static let bufferBytes = 1 << 16

    init(_ file: RegularFile, _ range: Range<Int>, _ place: FilePlace) {
        (self.file, self.place) = (file, place)
        (offset, start, end) = (range.lowerBound, range.lowerBound, range.upperBound)
    }

    /// The number of bytes that are left.
    var remaining: Int { end - offset }
    /// The number of bytes that were taken.
    var position: Int { offset - start }

    mutating func byte() throws(TensorFileError) -> UInt8 {
        guard remaining > 0 else { throw endError(needing: 1) }
        if offset - bufferStart >= buffer.count { try refill() }
        defer { offset += 1 }
        return buffer[offset - bufferStart]
    }

    /// Takes bytes; a count that the file does not have is refused before memory is allocated.
    mutating func bytes(_ count: UInt64) throws(TensorFileError) -> [UInt8] {
        guard count <= UInt64(remaining) else { throw endError(needing: count) }
        let count = Int(count)
        if offset - bufferStart + count > buffer.count, count <= Self.bufferBytes { try refill() }
        defer { offset += count }
        let first = offset - bufferStart
        guard first + count <= buffer.count else { return try whole(count) }
        return Array(buffer[first..<first + count])
    }

    /// Takes bytes without reading them.
    mutating func discard(_ count: UInt64) throws(TensorFileError) {
        guard count <= UInt64(remaining) else { throw endError(needing: count) }
        offset += Int(count)
    }

    /// Skips the remaining bytes; returns their place in the file.
    mutating func skip(_ count: Int) -> Range<Int> {
        defer { offset += count }
        return offset..<offset + count
    }

    /// Takes a number of `byteCount` bytes, little-endian.
    mutating func number(_ byteCount: UInt64) throws(TensorFileError) -> UInt64 {
        try bytes(byteCount).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Takes a line of at most `limit` bytes, and its end.
    mutating func line(limit: Int) throws(TensorFileError) -> [UInt8] {
        var line: [UInt8] = []
        while true {
            let next = try byte()
            if next == UInt8(ascii: "\n") { return line }
            guard line.count < limit else {
                throw error(.refused, "there is a name of more than \(limit) bytes")
            }
            line.append(next)
        }
    }

    func error(_ kind: TensorFileError.Kind, _ problem: String) -> TensorFileError {
        place.error(kind, "byte \(position): \(problem)")
    }

    private func endError(needing count: UInt64) -> TensorFileError {
        error(.damaged, "is truncated: \(count) bytes are expected, and \(remaining) are left")
    }

    private mutating func refill() throws(TensorFileError) {
        buffer = try whole(min(remaining, Self.bufferBytes))
        bufferStart = offset
    }

    private func whole(_ count: Int) throws(TensorFileError) -> [UInt8] {
        let bytes = try file.head(count, at: offset)
        guard bytes.count == count else { throw endError(needing: UInt64(count)) }
        return bytes
    }
}
