import CRetintImageCodecs

/// The EXIF data and the color profile in the bytes of an image file.
struct Metadata {
    let bytes: [UInt8]
    let format: SourceFormat

    /// The EXIF data, a small TIFF file; nil if there is none.
    var exif: ArraySlice<UInt8>? {
        let prefix = Array("Exif\0\0".utf8)
        func withoutPrefix(_ data: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            data.starts(with: prefix) ? data.dropFirst(prefix.count) : data
        }
        switch format {
        case .jpeg: return segments(marker: 0xe1, prefix: prefix).first
        case .png: return chunk("eXIf", from: 8, isPNG: true).map(withoutPrefix)
        case .webp: return chunk("EXIF", from: 12, isPNG: false).map(withoutPrefix)
        case .heif:
            let data = part(atMost: 1 << 20, codec_heif_exif)
            return data.count > 4 ? withoutPrefix(data.dropFirst(4)) : nil
        case .tiff, .bmp, .gif: return nil
        }
    }

    /// The density in a JFIF segment or a pHYs chunk; nil if there is none or it is 0.
    var resolution: ImageResolution? {
        let found: ImageResolution?
        switch format {
        case .jpeg:
            // Two bytes of the version, then the unit, two bytes across and two down.
            found = segments(marker: 0xe0, prefix: Array("JFIF\0".utf8)).first.flatMap {
                let units: [UInt8: ImageResolution.Unit] = [0: .unknown, 1: .inch, 2: .centimeter]
                let data = Array($0)
                guard data.count >= 7, let unit = units[data[2]] else { return nil }
                let (x, y) = (Int(data[3]) << 8 | Int(data[4]), Int(data[5]) << 8 | Int(data[6]))
                return ImageResolution(x: x, y: y, unit: unit)
            }
        case .png:
            found = chunk("pHYs", from: 8, isPNG: true).flatMap {
                guard $0.count == 9, let unit = $0.last, unit <= 1 else { return nil }
                let (x, y) = (
                    number(at: $0.startIndex, isBigEndian: true),
                    number(at: $0.startIndex + 4, isBigEndian: true)
                )
                return ImageResolution(x: x, y: y, unit: unit == 1 ? .meter : .unknown)
            }
        case .webp, .tiff, .bmp, .gif, .heif: found = nil
        }
        return found.flatMap { $0.x > 0 && $0.y > 0 ? $0 : nil }
    }

    /// Whether a PNG names colors, or entries of its palette, that are transparent.
    var hasTransparentColors: Bool { chunk("tRNS", from: 8, isPNG: true) != nil }

    /// The ICC profile as stored in the file; nil if there is none or it is incomplete.
    var profile: EmbeddedProfile? {
        switch format {
        case .jpeg: return profileOfJPEG.map { EmbeddedProfile(bytes: $0, isDeflated: false) }
        case .webp:
            return chunk("ICCP", from: 12, isPNG: false).map {
                EmbeddedProfile(bytes: Array($0), isDeflated: false)
            }
        case .png:
            // A name, a zero byte, the method 0, then the profile deflated.
            guard let data = chunk("iCCP", from: 8, isPNG: true),
                let end = data.prefix(80).firstIndex(of: 0), end + 1 < data.endIndex,
                data[end + 1] == 0
            else { return nil }
            return EmbeddedProfile(bytes: Array(data[(end + 2)...]), isDeflated: true)
        case .tiff, .heif:
            let profile = part(
                atMost: Image.largestProfile,
                format == .tiff ? codec_tiff_profile : codec_heif_profile)
            return profile.isEmpty
                ? nil : EmbeddedProfile(bytes: Array(profile), isDeflated: false)
        case .bmp, .gif: return nil
        }
    }

    private typealias PartReader = (
        UnsafePointer<UInt8>, Int, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>
    ) -> Void

    /// What a function of the C libraries copies out of the file; empty if there is nothing.
    private func part(atMost limit: Int, _ read: PartReader) -> ArraySlice<UInt8> {
        var size = limit
        return [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            read(bytes, bytes.count, buffer.baseAddress!, &size)
            count = size
        }[...]
    }

    /// A large profile is split into segments: the number of the part from 1, the count, the data.
    private var profileOfJPEG: [UInt8]? {
        let parts = segments(marker: 0xe2, prefix: Array("ICC_PROFILE\0".utf8))
            .filter { $0.count > 2 }
        guard let first = parts.first, parts.count == Int(first[first.startIndex + 1]) else {
            return nil
        }
        let sorted = parts.sorted { $0[$0.startIndex] < $1[$1.startIndex] }
        guard sorted.enumerated().allSatisfy({ Int($1[$1.startIndex]) == $0 + 1 }) else {
            return nil
        }
        return sorted.flatMap { $0.dropFirst(2) }
    }
}

/// A color profile as stored in a file.
struct EmbeddedProfile {
    let bytes: [UInt8]
    let isDeflated: Bool
}

// MARK: File structure

extension Metadata {
    /// The segments of a JPEG before the first scan, without their prefix: 0xff, a marker, then a
    /// length that includes its own two bytes.
    private func segments(marker: UInt8, prefix: [UInt8]) -> [ArraySlice<UInt8>] {
        let (fill, startOfScan): (UInt8, UInt8) = (0xff, 0xda)
        var found: [ArraySlice<UInt8>] = []
        var offset = 2
        while offset + 4 <= bytes.count, bytes[offset] == 0xff, bytes[offset + 1] != startOfScan {
            guard bytes[offset + 1] != fill else {
                offset += 1
                continue
            }
            let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
            let end = offset + 2 + length
            guard length >= 2, end <= bytes.count else { break }
            let data = bytes[(offset + 4)..<end]
            if bytes[offset + 1] == marker, data.starts(with: prefix) {
                found.append(data.dropFirst(prefix.count))
            }
            offset = end
        }
        return found
    }

    /// The data of a chunk. In PNG: length, name, data, checksum; in RIFF: name, length, data, and
    /// a byte that makes the length even.
    private func chunk(_ name: String, from start: Int, isPNG: Bool) -> ArraySlice<UInt8>? {
        var offset = start
        while offset + 8 <= bytes.count {
            let length = number(at: offset + (isPNG ? 0 : 4), isBigEndian: isPNG)
            guard length <= bytes.count - offset - 8 else { return nil }
            let nameStart = offset + (isPNG ? 4 : 0)
            if bytes[nameStart..<nameStart + 4].elementsEqual(name.utf8) {
                return bytes[(offset + 8)..<(offset + 8 + length)]
            }
            offset += 8 + length + (isPNG ? 4 : length & 1)
        }
        return nil
    }

    private func number(at offset: Int, isBigEndian: Bool) -> Int {
        let digits = bytes[offset..<offset + 4]
        return (isBigEndian ? Array(digits) : digits.reversed()).reduce(0) { $0 << 8 | Int($1) }
    }
}
