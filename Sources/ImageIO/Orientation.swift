/// How a picture has to be turned to stand upright: the EXIF tag 0x0112.
///
/// Cameras write their sensor's rows as they come and note how they were held.
enum Orientation: Int {
    case upright = 1
    case mirrored, upsideDown, flipped, transposed, turnRight, transverse, turnLeft

    /// Whether width and height change places.
    var swapsSides: Bool { rawValue >= 5 }

    /// What a file says; upright if it says nothing or nothing that makes sense.
    init(of bytes: [UInt8], format: SourceFormat) {
        let exif = exifData(in: bytes, format: format)
        self = exif.flatMap(TIFFReader.orientation).flatMap(Self.init) ?? .upright
    }
}

// MARK: Finding the EXIF data

private func exifData(in bytes: [UInt8], format: SourceFormat) -> ArraySlice<UInt8>? {
    switch format {
    case .jpeg: exifSegment(ofJPEG: bytes)
    case .png: chunk("eXIf", in: bytes, from: 8, layout: .png).map(withoutPrefix)
    case .webp: chunk("EXIF", in: bytes, from: 12, layout: .riff).map(withoutPrefix)
    }
}

private let exifPrefix = Array("Exif\0\0".utf8)

private func withoutPrefix(_ data: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    data.starts(with: exifPrefix) ? data.dropFirst(exifPrefix.count) : data
}

/// Walks the segments before the first scan: 0xff, a marker, then a length that counts itself.
private func exifSegment(ofJPEG bytes: [UInt8]) -> ArraySlice<UInt8>? {
    let (fill, app1, startOfScan): (UInt8, UInt8, UInt8) = (0xff, 0xe1, 0xda)
    var offset = 2
    while offset + 4 <= bytes.count, bytes[offset] == 0xff, bytes[offset + 1] != startOfScan {
        guard bytes[offset + 1] != fill else {
            offset += 1
            continue
        }
        let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
        let end = offset + 2 + length
        guard length >= 2, end <= bytes.count else { return nil }
        let data = bytes[(offset + 4)..<end]
        if bytes[offset + 1] == app1, data.starts(with: exifPrefix) { return withoutPrefix(data) }
        offset = end
    }
    return nil
}

private enum ChunkLayout {
    /// Length, name, data, checksum.
    case png
    /// Name, length, data, a byte that makes the length even.
    case riff
}

private func chunk(
    _ name: String, in bytes: [UInt8], from start: Int, layout: ChunkLayout
) -> ArraySlice<UInt8>? {
    var offset = start
    while offset + 8 <= bytes.count {
        let data = TIFFReader(bytes: bytes[offset...], isBigEndian: layout == .png)
        let length = Int(data.number(at: layout == .png ? 0 : 4, bytes: 4)!)
        guard length <= bytes.count - offset - 8 else { return nil }
        let nameStart = offset + (layout == .png ? 4 : 0)
        if bytes[nameStart..<nameStart + 4].elementsEqual(name.utf8) {
            return bytes[(offset + 8)..<(offset + 8 + length)]
        }
        offset += 8 + length + (layout == .png ? 4 : length & 1)
    }
    return nil
}

// MARK: Reading the EXIF data

/// EXIF data are a small TIFF file: numbers in either byte order, with offsets between them.
private struct TIFFReader {
    let bytes: ArraySlice<UInt8>
    let isBigEndian: Bool

    static func orientation(in data: ArraySlice<UInt8>) -> Int? {
        let isBigEndian = data.starts(with: "MM".utf8)
        guard isBigEndian || data.starts(with: "II".utf8) else { return nil }
        return TIFFReader(bytes: data, isBigEndian: isBigEndian).orientation()
    }

    /// Looks through the first directory: a count, then entries of twelve bytes.
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
