import RetintFiles
import RetintTestSupport
import Testing

@testable import RetintImages

/// The files that Goldens/make_goldens.py wrote.
enum Goldens {
    static let pngs = [
        "gray1", "gray8", "gray16", "grayalpha8", "interlaced", "palette4", "palette-transparent",
        "rgb16", "rgba8", "orientation-png", "profile-srgb", "profile-damaged",
        "profile-wrong",
    ].map { "\($0).png" }

    static let jpegs =
        [
            "cmyk", "jpeg-gray", "jpeg-restart", "jpeg-rgb", "jpeg420", "jpeg422", "jpeg444",
            "progressive", "ycck",
        ].map { "\($0).jpg" } + (1...8).map { "orientation-\($0).jpg" }

    static let webps = ["alpha", "lossless", "lossy", "orientation-webp"].map { "\($0).webp" }

    static let tiffs = [
        "alpha", "deflate", "fax", "gray", "gray16", "grayalpha", "jpeg", "lzw", "multiplied",
        "pages", "palette", "turned", "unspecified",
    ].map { "tiff-\($0).tif" }

    static let bitmaps = ["1", "8", "16", "24", "32", "565", "from-top", "old"].map {
        "bmp-\($0).bmp"
    }

    static let gifs = ["gif-interlaced.gif", "gif-plain.gif"]

    static let heifs = ["heif-av1.avif", "heif-plain.heic", "heif-turned.heic"]

    static let all =
        ["rgb8.png", "scaled.jpg"] + pngs + jpegs + webps + tiffs + bitmaps + gifs + heifs

    static func path(_ name: String) -> String { goldenPath(name) }

    static func bytes(_ name: String) throws -> [UInt8] { try readFile(path(name)) }

    static func image(_ name: String) throws -> Image { try Image(contentsOf: path(name)) }

    /// What Pillow decodes the file `name` to.
    static func expected(_ name: String) throws -> Image {
        try image("\(name.prefix { $0 != "." }).expected.png")
    }

    static func floats(_ name: String) throws -> [Float] {
        let bytes = try bytes(name)
        return stride(from: 0, to: bytes.count, by: 4).map { start in
            let bits = bytes[start..<start + 4].reversed().reduce(UInt32(0)) {
                $0 << 8 | UInt32($1)
            }
            return Float(bitPattern: bits)
        }
    }
}

/// Whether two images have one size and no byte differs by more than `tolerance` levels.
func expectEqual(
    _ image: Image, _ expected: Image, tolerance: Int = 0,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(image.width == expected.width, sourceLocation: sourceLocation)
    #expect(image.height == expected.height, sourceLocation: sourceLocation)
    guard image.pixels.count == expected.pixels.count else { return }
    let difference = zip(image.pixels, expected.pixels).map { abs(Int($0) - Int($1)) }.max() ?? 0
    #expect(difference <= tolerance, sourceLocation: sourceLocation)
}

/// The same numbers in every run (SplitMix64).
struct RepeatableGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
