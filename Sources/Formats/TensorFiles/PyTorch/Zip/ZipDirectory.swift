import RetintFiles

/// The location of a zip file's directory, from the record at the file's end.
struct ZipDirectory {
    let offset: Int
    let byteCount: Int
    let entryCount: Int

    /// A directory with more bytes is refused.
    private static let longest = 64 << 20
    private static let endBytes = 22
    private static let longestComment = 1 << 16 - 1

    init(of file: RegularFile) throws(TensorFileError) {
        let place = FilePlace(file.path.string)
        let tailBytes = min(file.byteCount, Self.endBytes + Self.longestComment)
        let tailStart = file.byteCount - tailBytes
        let tail = try file.head(tailBytes, at: tailStart)
        guard let end = Self.end(in: tail) else {
            throw place.error(.damaged, "is truncated: a zip file ends with its directory")
        }
        var numbers = [tail.uint16(at: end + 10), tail.uint32(at: end + 12)].map(UInt64.init)
        numbers.append(UInt64(tail.uint32(at: end + 16)))
        var disks = [tail.uint16(at: end + 4), tail.uint16(at: end + 6)]
        if let large = try Self.largeEnd(of: file, before: tailStart + end) {
            numbers = [32, 40, 48].map(large.uint64)
            disks = [16, 20].map(large.uint32)
        }
        guard disks == [0, 0] else {
            throw place.error(.refused, "is one part of a multi-part zip file; join the parts")
        }
        guard numbers[1] <= UInt64(Self.longest), numbers[0] <= numbers[1] else {
            throw place.error(
                .refused,
                "its directory of \(numbers[0]) entries has \(numbers[1]) bytes; the limit is "
                    + "\(Self.longest)")
        }
        guard numbers[2] <= UInt64(tailStart + end),
            Int(numbers[2]) + Int(numbers[1])
                <= tailStart + end
        else {
            throw place.error(
                .damaged, "its directory of \(numbers[1]) bytes at \(numbers[2]) exceeds the file")
        }
        (entryCount, byteCount, offset) = (Int(numbers[0]), Int(numbers[1]), Int(numbers[2]))
    }

    /// The offset of the last record whose comment reaches to the end.
    private static func end(in tail: [UInt8]) -> Int? {
        guard tail.count >= endBytes else { return nil }
        return (0...tail.count - endBytes).last {
            tail[$0] == 0x50 && tail.uint32(at: $0) == 0x0605_4b50
                && $0 + endBytes + tail.uint16(at: $0 + 20) == tail.count
        }
    }

    /// The ZIP64 record, if its locator precedes the usual one.
    private static func largeEnd(
        of file: RegularFile, before end: Int
    ) throws(TensorFileError) -> [UInt8]? {
        let (locatorBytes, recordBytes) = (20, 56)
        guard end >= locatorBytes else { return nil }
        let locator = try file.head(locatorBytes, at: end - locatorBytes)
        guard locator.uint32(at: 0) == 0x0706_4b50 else { return nil }
        let offset = locator.uint64(at: 8)
        let place = FilePlace(file.path.string)
        guard offset <= UInt64(max(end - locatorBytes - recordBytes, 0)) else {
            throw place.error(.damaged, "its ZIP64 record at \(offset) exceeds the file")
        }
        let record = try file.head(recordBytes, at: Int(offset))
        guard record.count == recordBytes, record.uint32(at: 0) == 0x0606_4b50 else {
            throw place.error(.damaged, "has no ZIP64 record at \(offset)")
        }
        return record
    }
}
