/// A file in a zip file, as described by the directory.
struct ZipEntry: Sendable {
    let name: String
    /// The compression method: 0 is none.
    let method: Int
    let isEncrypted: Bool
    /// The checksum of its bytes; 0 if it was not computed.
    let checksum: UInt32
    /// The number of bytes in the file.
    let storedBytes: Int
    /// The number of bytes after decompression.
    let byteCount: Int
    /// The offset of its header in the file.
    let headerOffset: Int

    /// The size of an entry of the directory without names, extra fields and comments.
    static let shortest = 46
    /// The longest name that is read: names are copied into messages.
    private static let longestName = 4096

    /// Reads the entry at `offset` of the directory, and moves `offset` behind it.
    init(
        _ directory: [UInt8], at offset: inout Int, _ place: FilePlace
    ) throws(TensorFileError) {
        let start = offset
        guard directory.count - start >= Self.shortest,
            directory.uint32(at: start) == 0x0201_4b50
        else { throw place.error(.damaged, "its directory has no entry at byte \(start)") }
        let nameBytes = directory.uint16(at: start + 28)
        let extraBytes = directory.uint16(at: start + 30)
        let end =
            start + Self.shortest + nameBytes + extraBytes + directory.uint16(at: start + 32)
        guard end <= directory.count, nameBytes <= Self.longestName else {
            throw place.error(.damaged, "an entry of its directory exceeds it, or names are long")
        }
        let name = directory[(start + Self.shortest)...].prefix(nameBytes)
        guard let text = String(validating: name, as: UTF8.self) else {
            throw place.error(.damaged, "the name of an entry of its directory is not UTF-8")
        }
        let extra = directory[(start + Self.shortest + nameBytes)...].prefix(extraBytes)
        var large = Self.large(Array(extra))
        let sizes = try [24, 20, 42].map { (field) throws(TensorFileError) in
            let value = directory.uint32(at: start + field)
            guard value == UInt32.max else { return value }
            guard !large.isEmpty, let size = Int(exactly: large.removeFirst()) else {
                throw FilePlace(place.path, text).error(
                    .damaged, "its size should be in an extra field, which is missing")
            }
            return size
        }
        self.name = text
        method = directory.uint16(at: start + 10)
        isEncrypted = directory.uint16(at: start + 8) & 1 == 1
        checksum = UInt32(directory.uint32(at: start + 16))
        (byteCount, storedBytes, headerOffset) = (sizes[0], sizes[1], sizes[2])
        offset = end
    }

    /// The numbers of the ZIP64 extra field, which replace those that are 2³² - 1.
    private static func large(_ extra: [UInt8]) -> [UInt64] {
        var offset = 0
        while extra.count - offset >= 4 {
            let count = extra.uint16(at: offset + 2)
            guard count <= extra.count - offset - 4 else { return [] }
            if extra.uint16(at: offset) == 1 {
                return stride(from: 0, through: count - 8, by: 8).map {
                    extra.uint64(at: offset + 4 + $0)
                }
            }
            offset += 4 + count
        }
        return []
    }
}
