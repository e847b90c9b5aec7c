import Foundation
import RetintFiles
import RetintTestSupport
import Testing

@testable import RetintImages

/// What written copies keep of a photo's metadata. Expected values are Pillow's, see
/// `Goldens/metadata/make_goldens.py`.
@Suite struct MetadataTests {
    static let names = [
        "damaged.jpg", "density.jpg", "plain.png", "turned-webp.webp", "turned.jpg", "upright.png",
        "upside-down.jpg",
    ]

    private static func expected(_ name: String) throws -> [String: Any] {
        let data = Data(try Goldens.bytes("metadata/expected.json"))
        let all = try JSONSerialization.jsonObject(with: data) as? [String: [String: Any]]
        return try #require(all?[name])
    }

    @Test(arguments: [("tiff-pages.tif", true), ("tiff-gray.tif", false), ("gray8.png", false)])
    func furtherPagesAreNoted(_ name: String, _ areNoted: Bool) throws {
        let notes = try ImageMetadata(contentsOf: goldenPath(name)).notes
        #expect(notes.contains { $0.contains("several pages") } == areNoted)
    }

    @Test(arguments: [
        ("tiff-gray16.tif", true), ("gray16.png", true), ("tiff-gray.tif", false),
        ("tiff-lzw.tif", false), ("gray8.png", false), ("gray1.png", false),
    ])
    func deepSamplesAreNoted(_ name: String, _ areNoted: Bool) throws {
        let notes = try ImageMetadata(contentsOf: goldenPath(name)).notes
        #expect(notes.contains { $0.contains("16 bits per sample") } == areNoted, "\(notes)")
        #expect(areNoted || notes.isEmpty)
    }

    /// An opaque channel says nothing.
    @Test(arguments: [
        ("rgba8.png", true), ("grayalpha8.png", true), ("alpha.webp", true), ("rgb16.png", false),
        ("lossless.webp", false), ("lossy.webp", false), ("palette-transparent.png", true),
        ("palette4.png", false), ("tiff-alpha.tif", true), ("tiff-grayalpha.tif", true),
        ("tiff-multiplied.tif", true), ("tiff-unspecified.tif", false), ("tiff-lzw.tif", false),
    ])
    func transparencyIsNoted(_ name: String, _ isNoted: Bool) throws {
        let notes = try ImageMetadata(contentsOf: goldenPath(name)).notes
        #expect(notes.contains("its transparency was left out") == isNoted, "\(notes)")
    }

    /// Directories without and with one entry: the kind of the second page.
    @Test(arguments: [true, false]) func aSmallerCopyIsNotAPage(_ isLittle: Bool) {
        func bytes(_ numbers: [(value: Int, count: Int)]) -> [UInt8] {
            numbers.flatMap { value, count in
                let big = (0..<count).map { UInt8(value >> (8 * (count - 1 - $0)) & 255) }
                return isLittle ? big.reversed() : big
            }
        }
        for (kind, isPage) in [(0, true), (1, false), (2, true), (4, true), (5, false)] {
            let tiff =
                Array((isLittle ? "II" : "MM").utf8)
                + bytes([
                    (42, 2), (8, 4), (0, 2), (14, 4), (1, 2), (254, 2), (4, 2), (1, 4), (kind, 4),
                    (0, 4),
                ])
            #expect(TIFFDirectory(tiff)?.hasNext == isPage, "\(kind)")
            for length in 0..<16 {
                #expect(TIFFDirectory(Array(tiff.prefix(length)))?.hasNext != true)
            }
        }
    }

    private static let formats: [ImageFormat] = [.png(), .jpeg()]

    @Test(arguments: names, formats)
    func copiesHaveWhatPillowExpects(_ name: String, _ format: ImageFormat) throws {
        let expected = try Self.expected(name)
        let (image, metadata) = try Image.withMetadata(contentsOf: Goldens.path("metadata/\(name)"))
        #expect([image.width, image.height] == expected["size"] as? [Int])
        #expect(metadata.notes.isEmpty != (expected["note"] as? Bool))

        let copy = try image.encode(format, metadata: metadata)
        let file = Metadata(bytes: copy, format: try SourceFormat(of: copy, file: "copy"))
        let tags = file.exif.map { TIFFTags(Array($0)).values } ?? [:]
        let wanted = try #require(expected["tags"] as? [String: Any])
        #expect(Set(tags.keys) == Set(wanted.keys))
        for (tag, value) in wanted { #expect(matches(tags[tag], value), "\(tag): \(value)") }

        // A JPEG without a resolution has pixels of 1 : 1.
        let density = file.resolution.flatMap {
            $0.unit == .unknown ? nil : [perInch($0.x, $0.unit), perInch($0.y, $0.unit)]
        }
        let dpi = expected["dpi"] as? [Double]
        #expect((density == nil) == (dpi == nil))
        for (found, wanted) in zip(density ?? [], dpi ?? []) { #expect(abs(found - wanted) < 0.6) }
    }

    /// Pillow gives text, a number, or several of either, and data as hexadecimal digits.
    private func matches(_ found: TIFFTags.Value?, _ expected: Any) -> Bool {
        guard let found else { return false }
        if let number = expected as? Double { return found.numbers == [number] }
        if let numbers = expected as? [Double] { return found.numbers == numbers }
        let hex = found.bytes.map { String(format: "%02x", $0) }.joined()
        return expected as? String == found.text || expected as? String == hex
    }

    private func perInch(_ value: Int, _ unit: ImageResolution.Unit) -> Double {
        Double(value) * [.inch: 1, .centimeter: 2.54, .meter: 0.0254][unit, default: .nan]
    }

    @Test func copiesAreTaggedAsSRGB() throws {
        let (image, metadata) = try Image.withMetadata(
            contentsOf: Goldens.path("metadata/turned.jpg"))
        let jpeg = try image.encode(.jpeg(), metadata: metadata)
        let profile = try #require(Metadata(bytes: jpeg, format: .jpeg).profile)
        #expect(profile.bytes.count == 588)
        #expect(profile.bytes[36..<40].elementsEqual("acsp".utf8))
        // Every time the same bytes, and read back without another conversion.
        #expect(try image.encode(.jpeg(), metadata: metadata) == jpeg)
        #expect(try Image(data: jpeg, name: "copy").pixels != [])
        let png = try image.encode(.png(), metadata: metadata)
        #expect(png.contains(Array("sRGB".utf8)) && png.contains(Array("cHRM".utf8)))
        #expect(try Image(data: png, name: "copy") == image)
        // JFIF asks to be first.
        let parts = try ["JFIF\0", "Exif\0\0", "ICC_PROFILE\0"].map {
            try #require(jpeg.firstRange(of: Array($0.utf8))).lowerBound
        }
        #expect(parts == parts.sorted() && parts[0] == 6)
        #expect(!(try image.encode(.jpeg())).contains(Array("ICC_PROFILE".utf8)))
    }

    /// Readers refuse or warn of a PNG that has a chunk of metadata twice.
    @Test func chunksAreWrittenOnce() throws {
        let (image, metadata) = try Image.withMetadata(
            contentsOf: Goldens.path("metadata/turned.jpg"))
        let png = try image.encode(.png(), metadata: metadata)
        for name in ["IHDR", "eXIf", "pHYs", "sRGB", "gAMA", "cHRM", "IEND"] {
            #expect(png.ranges(of: Array(name.utf8)).count == 1, "\(name)")
        }
    }

    /// The thumbnail shows the photo as it was before.
    @Test(arguments: ["turned.jpg", "upside-down.jpg"])
    func thumbnailsAreRemoved(_ name: String) throws {
        let path = Goldens.path("metadata/\(name)")
        let before = Metadata(bytes: try readFile(path), format: .jpeg).exif
        let after = try #require(try ImageMetadata(contentsOf: path).exif)
        let startOfJPEG: [UInt8] = [0xff, 0xd8, 0xff]
        #expect(Array(try #require(before)).contains(startOfJPEG) && !after.contains(startOfJPEG))
        #expect(TIFFTags(after).nextDirectory == 0)
    }

    @Test(arguments: [(65_527, true), (65_528, false)])
    func largeDataDoNotFitIntoAJPEG(count: Int, fits: Bool) throws {
        // A directory without entries, and data that it does not use.
        let tiff = Array("II*\0".utf8) + [8, 0, 0, 0] + [UInt8](repeating: 0, count: count - 8)
        let image = Image(width: 2, height: 2, red: 1, green: 2, blue: 3)
        let metadata = try ImageMetadata(data: webp(exif: tiff), name: "photo.webp")
        let jpeg = try image.encode(.jpeg(), metadata: metadata)
        #expect((Metadata(bytes: jpeg, format: .jpeg).exif?.count == count) == fits)
        #expect(metadata.notes(writing: .jpeg()).isEmpty == fits)
        let png = try image.encode(.png(), metadata: metadata)
        #expect(Metadata(bytes: png, format: .png).exif?.count == count)
        #expect(metadata.notes(writing: .png()).isEmpty)
    }

    /// A file of nothing but metadata.
    private func webp(exif: [UInt8]) -> [UInt8] {
        func word(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 255) } }
        let chunk = Array("EXIF".utf8) + word(exif.count) + exif + (exif.count % 2 == 1 ? [0] : [])
        return Array("RIFF".utf8) + word(chunk.count + 4) + Array("WEBP".utf8) + chunk
    }

    /// Damage of any byte, and any end, gives data whose structure is whole, or none.
    @Test(arguments: ["turned.jpg", "upside-down.jpg"])
    func damagedDataNeverTrap(_ name: String) throws {
        let file = Metadata(bytes: try Goldens.bytes("metadata/\(name)"), format: .jpeg)
        let whole = Array(try #require(file.exif))
        var damaged = (0..<whole.count).map { Array(whole.prefix($0)) }
        for index in whole.indices {
            for value: UInt8 in [0, 1, 8, 0x7f, 0x80, 0xff] {
                damaged.append(whole)
                damaged[damaged.count - 1][index] = value
            }
        }
        var kept = 0
        for data in damaged {
            let metadata = try ImageMetadata(data: webp(exif: data), name: "photo.webp")
            #expect((metadata.exif == nil) == !metadata.notes.isEmpty)
            guard let exif = metadata.exif else { continue }
            kept += 1
            #expect(exif.count <= data.count && EXIFDirectories(exif) != nil)
            #expect(EXIFDirectories(metadata.exif(width: 70_000, height: 1)) != nil)
        }
        #expect(kept > damaged.count / 4 && kept < damaged.count)
    }

    @Test func directoriesThatFormACycleAreRefused() {
        // The EXIF directory is the main one.
        let cycle: [UInt8] =
            Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x69, 0x87, 4, 0, 1, 0, 0, 0, 8, 0, 0, 0]
            + [0, 0, 0, 0]
        #expect(EXIFDirectories(cycle) == nil)
    }
}

/// A second reader of TIFF, for what was written.
private struct TIFFTags {
    struct Value {
        let bytes: [UInt8]
        let numbers: [Double]
        var text: String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private(set) var values: [String: Value] = [:]
    private(set) var nextDirectory = -1
    private let bytes: [UInt8]
    private let isBig: Bool

    init(_ bytes: [UInt8]) {
        (self.bytes, isBig) = (bytes, bytes[0] == 0x4d)
        nextDirectory = read(0, at: whole(4, 4))
    }

    private mutating func read(_ name: Int, at start: Int) -> Int {
        let count = whole(start, 2)
        for place in (0..<count).map({ start + 2 + 12 * $0 }) {
            let (tag, type, count) = (whole(place, 2), whole(place + 2, 2), whole(place + 4, 4))
            if [0x8769, 0x8825, 0xa005].contains(tag) {
                _ = read(tag, at: whole(place + 8, 4))
                continue
            }
            let size = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 10: 8][type]!
            let at = size * count > 4 ? whole(place + 8, 4) : place + 8
            let numbers = (0..<count).map { index -> Double in
                let item = at + size * index
                let first = Double(whole(item, min(size, 4)))
                return size == 8 ? first / Double(whole(item + 4, 4)) : first
            }
            let key = String(format: "%04x/%04x", name, tag)
            values[key] = Value(bytes: Array(bytes[at..<at + size * count]), numbers: numbers)
        }
        return whole(start + 2 + 12 * count, 4)
    }

    private func whole(_ offset: Int, _ count: Int) -> Int {
        let digits = bytes[offset..<offset + count]
        return (isBig ? Array(digits) : digits.reversed()).reduce(0) { $0 << 8 | Int($1) }
    }
}
