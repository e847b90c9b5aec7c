/// How an image must be turned to be upright: the EXIF tag 0x0112.
///
/// Cameras store the rows of their sensor and record their orientation.
enum Orientation: Int {
    case upright = 1
    case mirrored, upsideDown, flipped, transposed, turnRight, transverse, turnLeft

    /// Whether width and height are swapped.
    var swapsSides: Bool { rawValue >= 5 }

    /// The orientation stated in a file; upright if there is none or it is invalid.
    init(of bytes: [UInt8], format: SourceFormat) {
        let directories: ArraySlice<UInt8>? =
            switch format {
            // The file itself has the form of EXIF data.
            case .tiff: bytes[...]
            // Its library turns it upright, by another statement.
            case .heif: nil
            default: Metadata(bytes: bytes, format: format).exif
            }
        self = directories.flatMap(TIFFReader.orientation).flatMap(Self.init) ?? .upright
    }
}

/// EXIF data are a small TIFF file: numbers in either byte order, with offsets between them.
private struct TIFFReader {
    let bytes: ArraySlice<UInt8>
    let isBigEndian: Bool

    static func orientation(in data: ArraySlice<UInt8>) -> Int? {
        let isBigEndian = data.starts(with: "MM".utf8)
        guard isBigEndian || data.starts(with: "II".utf8) else { return nil }
        return TIFFReader(bytes: data, isBigEndian: isBigEndian).orientation()
    }

    /// Searches the first directory: a count, then entries of twelve bytes.
    private func orientation() -> Int? {
        guard number(at: 2, bytes: 2) == 42, let directory = number(at: 4, bytes: 4),
            let count = number(at: directory, bytes: 2)
        else { return nil }
        for entry in stride(from: directory + 2, to: directory + 2 + 12 * count, by: 12)
        where number(at: entry, bytes: 2) == 0x0112 {
            let isShort = number(at: entry + 2, bytes: 2) == 3
            return isShort ? number(at: entry + 8, bytes: 2) : nil
        }
        return nil
    }

    /// An unsigned number of up to four bytes; nil past the end.
    func number(at offset: Int, bytes count: Int) -> Int? {
        guard offset >= 0, offset + count <= bytes.count else { return nil }
        let digits = bytes[(bytes.startIndex + offset)...].prefix(count)
        let ordered = isBigEndian ? Array(digits) : digits.reversed()
        return ordered.reduce(0) { $0 << 8 | Int($1) }
    }
}
