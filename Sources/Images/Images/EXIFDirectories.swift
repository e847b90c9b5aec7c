/// EXIF data whose values can be replaced in place.
///
/// They are a small TIFF file: directories of values, with offsets between them. Nothing moves, so
/// that offsets within a camera's own data (MakerNote) stay right.
struct EXIFDirectories {
    private var numbers: TIFFNumbers
    private var entries: [Entry] = []
    /// The offsets of the directories, the main one first. Each ends with the offset of the next;
    /// after the main one, that is the thumbnail's.
    private var places: [Range<Int>] = []

    /// A value, or several, of one tag.
    private struct Entry {
        let directory: Directory
        let tag, type, count: Int
        /// The offset of the value; that of the entry's last four bytes if it fits there.
        let offset: Int
        /// The bytes of the value, which may be in the entry.
        let size: Int
    }

    private enum Directory {
        case main, exif, gps, interoperability

        /// The tag in the main or the EXIF directory whose value is the offset of this one.
        static let links: [Int: Directory] = [
            0x8769: .exif, 0x8825: .gps, 0xa005: .interoperability,
        ]
    }

    /// The bytes of one value of each type, from 1 on; other types have a size that is unknown.
    private static let sizes = [1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]
    private static let (short, long, rational) = (3, 4, 5)

    /// The data.
    var bytes: [UInt8] { numbers.bytes }

    /// Reads the directories.
    ///
    /// - Returns: nil if a directory or a value is not within the data, if there is a
    ///   directory twice, or if something overlaps a directory.
    init?(_ bytes: [UInt8]) {
        guard let numbers = TIFFNumbers(bytes), let main = numbers.firstDirectory else {
            return nil
        }
        self.numbers = numbers
        var waiting: [(directory: Directory, offset: Int)] = [(.main, main)]
        var seen: Set<Directory> = []
        while let (directory, offset) = waiting.popLast() {
            guard seen.insert(directory).inserted, read(directory, at: offset) else { return nil }
            guard directory == .main || directory == .exif else { continue }
            for entry in entries where entry.directory == directory {
                guard let linked = Directory.links[entry.tag], entry.type == Self.long,
                    let offset = numbers.number(at: entry.offset, bytes: 4)
                else { continue }
                waiting.append((linked, offset))
            }
        }
        guard isDisjoint else { return nil }
    }

    /// Whether values can be replaced without changing a directory.
    private var isDisjoint: Bool {
        let sorted = places.sorted { $0.lowerBound < $1.lowerBound }
        guard zip(sorted, sorted.dropFirst()).allSatisfy({ $0.upperBound <= $1.lowerBound }) else {
            return false
        }
        return entries.allSatisfy { entry in
            let value = entry.offset..<entry.offset + entry.size
            // The header has eight bytes.
            return entry.size <= 4
                || (entry.offset >= 8 && !places.contains { $0.overlaps(value) })
        }
    }

    /// Reads the entries of a directory: a count, then twelve bytes for each.
    ///
    /// - Returns: whether everything is within the data.
    private mutating func read(_ directory: Directory, at start: Int) -> Bool {
        guard let count = numbers.number(at: start, bytes: 2) else { return false }
        let end = start + 2 + 12 * count
        guard start >= 8, end + 4 <= numbers.bytes.count else { return false }
        places.append(start..<end + 4)
        for place in stride(from: start + 2, to: end, by: 12) {
            guard let entry = entry(at: place, of: directory) else { return false }
            entries.append(entry)
        }
        return true
    }

    private func entry(at place: Int, of directory: Directory) -> Entry? {
        guard let tag = numbers.number(at: place, bytes: 2),
            let type = numbers.number(at: place + 2, bytes: 2),
            let count = numbers.number(at: place + 4, bytes: 4),
            let value = numbers.number(at: place + 8, bytes: 4)
        else { return nil }
        let size = Self.sizes.indices.contains(type - 1) ? Self.sizes[type - 1] * count : 0
        let offset = size > 4 ? value : place + 8
        guard offset + size <= numbers.bytes.count else { return nil }
        return Entry(
            directory: directory, tag: tag, type: type, count: count, offset: offset, size: size)
    }
}

// MARK: Current state of the image

extension EXIFDirectories {
    /// States that the image is upright and sRGB, and removes the thumbnail.
    ///
    /// - Parameter turned: whether width and height were swapped to make it upright.
    mutating func describeUprightSRGB(turned: Bool) {
        removeThumbnail()
        set(0x0112, in: .main, to: 1)
        set(0xa001, in: .exif, to: 1)
        describeInteroperability()
        if turned { exchange(0x011a, 0x011b) }
    }

    /// Sets the sizes that the data state.
    mutating func setSize(width: Int, height: Int) {
        set(0xa002, in: .exif, to: width)
        set(0xa003, in: .exif, to: height)
        set(0x0100, in: .main, to: width)
        set(0x0101, in: .main, to: height)
    }

    /// "R03", Adobe RGB, becomes "R98", sRGB.
    private mutating func describeInteroperability() {
        guard let index = entry(0x0001, in: .interoperability), index.count == 4,
            numbers.bytes[index.offset..<index.offset + 3].elementsEqual("R03".utf8)
        else { return }
        numbers.bytes.replaceSubrange(index.offset..<index.offset + 3, with: "R98".utf8)
    }

    /// Cuts off the thumbnail's directory, and its data if they come last, as they usually do.
    private mutating func removeThumbnail() {
        let link = places[0].upperBound - 4
        guard let start = numbers.number(at: link, bytes: 4), start != 0 else { return }
        let used = entries.map { $0.offset + $0.size } + places.map(\.upperBound)
        let end = used.max() ?? numbers.bytes.count
        numbers.store(0, at: link, bytes: 4)
        // A directory that this does not read may also be there.
        let hasOthers = entry(0x014a, in: .main) != nil
        if start >= end, !hasOthers { numbers.bytes.removeLast(numbers.bytes.count - end) }
    }

    private func entry(_ tag: Int, in directory: Directory) -> Entry? {
        entries.first { $0.directory == directory && $0.tag == tag }
    }

    /// Replaces a whole number, if it is there.
    private mutating func set(_ tag: Int, in directory: Directory, to value: Int) {
        guard let entry = entry(tag, in: directory), entry.count == 1 else { return }
        switch entry.type {
        case Self.short where value <= 0xffff: numbers.store(value, at: entry.offset, bytes: 2)
        case Self.long: numbers.store(value, at: entry.offset, bytes: 4)
        default: return
        }
    }

    /// Exchanges two fractions.
    private mutating func exchange(_ first: Int, _ second: Int) {
        guard let one = entry(first, in: .main), let other = entry(second, in: .main),
            [one, other].allSatisfy({ $0.type == Self.rational && $0.count == 1 })
        else { return }
        for index in 0..<8 { numbers.bytes.swapAt(one.offset + index, other.offset + index) }
    }

}
