import RetintFiles

/// An open weight file: a header, then records of 64 bytes, each followed by its data.
///
/// The file stays open while a value refers to it, so the values of a package that has been
/// replaced on disk still read its old contents.
final class WeightFile: Sendable {
    let file: RegularFile
    private var size: Int { file.byteCount }

    static let headerSize = 64
    static let recordSize = 64
    static let alignment = 64
    static let version: UInt64 = 2
    static let sentinel: UInt64 = 0xDEAD_BEEF

    /// Opens the file and checks its header.
    init(path: String) throws(MLPackageError) {
        do throws(FileError) {
            file = try RegularFile(path, followingLinks: false)
        } catch {
            throw MLPackageError(error)
        }
        try checkHeader()
    }

    private func checkHeader() throws(MLPackageError) {
        guard size >= Self.headerSize else {
            throw damage("header", "\(Self.headerSize) bytes are needed, the file has \(size)")
        }
        let header = try read(at: 0, count: Self.headerSize)
        let version = LittleEndian.number(header, at: 4, width: 4)
        guard version == Self.version else {
            throw damage("header", "the version has to be \(Self.version), not \(version)")
        }
    }

    /// Checks that the file consists of as many consecutive records as the header states.
    func checkExtent() throws(MLPackageError) {
        let count = LittleEndian.number(try read(at: 0, count: 4), at: 0, width: 4)
        var end = Self.headerSize
        for _ in 0..<count {
            end = try endOfRecord(at: (end + Self.alignment - 1) / Self.alignment * Self.alignment)
        }
        guard size - end < Self.alignment else {
            throw damage(
                "byte \(end)", "\(size - end) bytes follow the last of \(count) records")
        }
    }

    /// The end of the data of the record at `start`.
    private func endOfRecord(at start: Int) throws(MLPackageError) -> Int {
        let place = "record at \(start)"
        guard start <= size - Self.recordSize else {
            throw damage(place, "the header counts more records than there are")
        }
        return try dataRange(try record(at: start), start, place).upperBound
    }

    /// Checks the record at `offset` against the type of the value that refers to it.
    func blob(at offset: UInt64, for type: MILTensorType) throws(MLPackageError) -> BlobReference {
        let place = "record at \(offset)"
        guard let start = Int(exactly: offset), start >= Self.headerSize,
            start % Self.alignment == 0, start <= size - Self.recordSize
        else { throw damage(place, "it has to start at a multiple of 64 inside the file") }
        let record = try record(at: start)
        try check(record, at: place, for: type)
        let range = try dataRange(record, start, place)
        return BlobReference(file: file, offset: range.lowerBound, byteCount: range.count)
    }

    private func record(at start: Int) throws(MLPackageError) -> [UInt8] {
        let record = try read(at: start, count: Self.recordSize)
        guard LittleEndian.number(record, at: 0, width: 4) == Self.sentinel else {
            throw damage(
                "record at \(start)", "no record starts there (its mark DEADBEEF is missing)")
        }
        return record
    }

    /// The range of the data of a record.
    private func dataRange(
        _ record: [UInt8], _ start: Int, _ place: String
    ) throws(MLPackageError) -> Range<Int> {
        let data = LittleEndian.number(record, at: 16, width: 8)
        let count = LittleEndian.number(record, at: 8, width: 8)
        guard let dataStart = Int(exactly: data), let byteCount = Int(exactly: count),
            dataStart >= start + Self.recordSize, dataStart <= size,
            byteCount <= size - dataStart
        else { throw damage(place, "its data has to lie after it and inside the file") }
        return dataStart..<dataStart + byteCount
    }

    private func check(
        _ record: [UInt8], at place: String, for type: MILTensorType
    ) throws(MLPackageError) {
        let number = LittleEndian.number(record, at: 4, width: 4)
        guard let expected = type.dataType.blobNumber, number == UInt64(expected) else {
            throw damage(place, "its type number \(number) is not that of \(type)")
        }
        let byteCount = LittleEndian.number(record, at: 8, width: 8)
        guard let needed = type.byteCount, byteCount == UInt64(needed) else {
            throw damage(place, "it has \(byteCount) bytes, which does not fit \(type)")
        }
        let padding = LittleEndian.number(record, at: 24, width: 8)
        let used = (type.elementCount ?? 0) * (type.dataType.bitWidth ?? 0)
        guard !type.dataType.isPacked || padding == UInt64(needed * 8 - used) else {
            throw damage(place, "\(padding) bits of padding do not fit \(type)")
        }
    }

    /// Reads exactly `count` bytes.
    func read(at offset: Int, count: Int) throws(MLPackageError) -> [UInt8] {
        try file.exactly(count, at: offset)
    }

    private func damage(_ place: String, _ rule: String) -> MLPackageError {
        file.damage(place, rule)
    }
}

/// The elements of a value in an open file, checked against the value's type.
package struct BlobReference: Hashable, Sendable {
    private let file: RegularFile
    /// The offset of the data in the file.
    private let offset: Int
    package let byteCount: Int

    /// - Parameter offset: Where the elements start in the file, which stays open.
    package init(file: RegularFile, offset: Int, byteCount: Int) {
        (self.file, self.offset, self.byteCount) = (file, offset, byteCount)
    }

    var path: String { file.path.string }

    /// Reads the whole blob.
    func bytes() throws(MLPackageError) -> [UInt8] { try bytes(0..<byteCount) }

    /// Reads some of its bytes.
    func bytes(_ range: Range<Int>) throws(MLPackageError) -> [UInt8] {
        try file.exactly(range.count, at: offset + range.lowerBound)
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.file === right.file && left.offset == right.offset
            && left.byteCount == right.byteCount
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(file))
        hasher.combine(offset)
    }
}

extension RegularFile {
    fileprivate func exactly(_ count: Int, at offset: Int) throws(MLPackageError) -> [UInt8] {
        guard let bytes = try? bytes(at: offset, count: count), bytes.count == count else {
            throw damage("bytes \(offset) to \(offset + count)", "they cannot be read")
        }
        return bytes
    }

    fileprivate func damage(_ place: String, _ rule: String) -> MLPackageError {
        MLPackageError(
            file: path.string, place: place, rule: rule,
            remedy: "The file is damaged or incomplete: export or copy the package again.")
    }
}
