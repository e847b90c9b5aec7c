import RetintFiles

/// The uncompressed entries of an untrusted zip file.
///
/// The whole directory is checked when the file is opened: entries have different names and do not
/// share bytes. Nothing is ever decompressed.
struct ZipFile: Sendable {
    let file: RegularFile
    private let entries: [String: ZipEntry]
    /// The bytes of each entry in the file.
    private let ranges: [String: Range<Int>]

    private static let headerBytes = 30

    init(_ file: RegularFile, limits: TensorFileLimits) throws(TensorFileError) {
        self.file = file
        let place = FilePlace(file.path.string)
        let directory = try ZipDirectory(of: file)
        // Each tensor may have its own record; torch.save adds a few more.
        guard directory.entryCount <= limits.objects else {
            throw place.error(
                .refused,
                "has \(directory.entryCount) records; the limit is \(limits.objects)")
        }
        let bytes = try file.head(directory.byteCount, at: directory.offset)
        var (entries, offset) = ([String: ZipEntry](), 0)
        for _ in 0..<directory.entryCount {
            let entry = try ZipEntry(bytes, at: &offset, place)
            guard entries.updateValue(entry, forKey: entry.name) == nil else {
                throw FilePlace(place.path, entry.name).error(.damaged, "is in the file twice")
            }
        }
        guard offset == bytes.count else {
            throw place.error(.damaged, "its directory continues after its last entry")
        }
        self.entries = entries
        ranges = try Self.ranges(of: entries.values, in: file, before: directory.offset)
    }

    /// The names of the entries.
    var names: Dictionary<String, ZipEntry>.Keys { entries.keys }

    /// The bytes of an entry; nil if there is no entry with that name.
    ///
    /// - Throws: ``TensorFileError`` if they are compressed or encrypted.
    func range(of name: String) throws(TensorFileError) -> Range<Int>? {
        guard let entry = entries[name], let range = ranges[name] else { return nil }
        let place = FilePlace(file.path.string, name)
        guard !entry.isEncrypted else { throw place.error(.refused, "is encrypted") }
        guard entry.method == 0 else {
            let kind = entry.method == 8 ? "deflated" : "compressed (method \(entry.method))"
            throw place.error(
                .refused,
                "is \(kind); save it without compression, as torch.save and numpy.savez do")
        }
        guard entry.byteCount == entry.storedBytes else {
            throw place.error(
                .damaged,
                "is stored, but has \(entry.storedBytes) bytes instead of \(entry.byteCount)")
        }
        return range
    }

    /// Throws if the bytes of an entry do not have its checksum.
    func verify(_ name: String) throws(TensorFileError) {
        // torch.serialization.set_crc32_options(False) leaves 0.
        guard let entry = entries[name], entry.checksum != 0, var rest = try range(of: name) else {
            return
        }
        var checksum = CRC32()
        while !rest.isEmpty {
            let bytes = try file.head(min(rest.count, 1 << 20), at: rest.lowerBound)
            guard !bytes.isEmpty else { break }
            bytes.withUnsafeBytes { checksum.update($0) }
            rest = rest.dropFirst(bytes.count)
        }
        guard checksum.value == entry.checksum else {
            throw FilePlace(file.path.string, name).error(
                .damaged, "its checksum does not match its bytes; copy the file again")
        }
    }

    /// The bytes of each entry, after its header.
    private static func ranges(
        of entries: some Collection<ZipEntry>, in file: RegularFile, before limit: Int
    ) throws(TensorFileError) -> [String: Range<Int>] {
        var (end, ranges) = (0, [String: Range<Int>]())
        for entry in entries.sorted(by: { ($0.headerOffset, $0.name) < ($1.headerOffset, $1.name) })
        {
            let place = FilePlace(file.path.string, entry.name)
            guard entry.headerOffset >= end else {
                throw place.error(.damaged, "shares bytes with another record")
            }
            guard entry.headerOffset <= limit - headerBytes else {
                throw place.error(.damaged, "begins at \(entry.headerOffset), after the records")
            }
            let start = try dataOffset(of: entry, in: file, place)
            guard start <= limit, entry.storedBytes <= limit - start else {
                throw place.error(
                    .damaged, "its \(entry.storedBytes) bytes exceed the file's records")
            }
            end = start + entry.storedBytes
            ranges[entry.name] = start..<end
        }
        return ranges
    }

    private static func dataOffset(
        of entry: ZipEntry, in file: RegularFile, _ place: FilePlace
    ) throws(TensorFileError) -> Int {
        let nameBytes = entry.name.utf8.count
        let header = try file.head(headerBytes + nameBytes, at: entry.headerOffset)
        guard header.count == headerBytes + nameBytes, header.uint32(at: 0) == 0x0403_4b50,
            header.uint16(at: 8) == entry.method, header.uint16(at: 26) == nameBytes,
            header[headerBytes...].elementsEqual(entry.name.utf8)
        else {
            throw place.error(.damaged, "its header is not the one that the directory describes")
        }
        return entry.headerOffset + headerBytes + nameBytes + header.uint16(at: 28)
    }
}
