import Testing

@testable import RetintImages

@Suite struct DecodingTests {
    @Test func pngHoldsTheBytesThatWereWritten() throws {
        let image = try Goldens.image("rgb8.png")
        #expect(image.width == 31 && image.height == 22)
        #expect(try image.pixels == Goldens.bytes("expected.rgb"))
    }

    @Test(arguments: Goldens.pngs)
    func pngEqualsPillow(name: String) throws {
        try expectEqual(Goldens.image(name), Goldens.expected(name))
    }

    @Test(arguments: Goldens.jpegs)
    func jpegEqualsPillow(name: String) throws {
        try expectEqual(Goldens.image(name), Goldens.expected(name), tolerance: 1)
    }

    @Test(arguments: Goldens.webps)
    func webpEqualsPillow(name: String) throws {
        try expectEqual(Goldens.image(name), Goldens.expected(name))
    }

    /// Colors that were multiplied by their alpha, and are divided by it, lose a level.
    @Test(arguments: Goldens.tiffs)
    func tiffEqualsPillow(name: String) throws {
        let isExact = !["tiff-multiplied.tif", "tiff-jpeg.tif"].contains(name)
        try expectEqual(Goldens.image(name), Goldens.expected(name), tolerance: isExact ? 0 : 1)
    }

    @Test(arguments: Goldens.bitmaps + Goldens.gifs)
    func bitmapsAndGIFsEqualPillow(name: String) throws {
        try expectEqual(Goldens.image(name), Goldens.expected(name))
    }

    /// The decoders of Debian's libheif round differently from those of Pillow.
    @Test(arguments: Goldens.heifs)
    func heifEqualsPillow(name: String) throws {
        try expectEqual(Goldens.image(name), Goldens.expected(name), tolerance: 3)
    }

    /// Colors of a wider gamut become sRGB's, as littleCMS within Pillow turns them.
    @Test(arguments: [
        "profile-png.png", "profile-jpeg.jpg", "profile-webp.webp", "profile-tiff.tif",
        "profile-heif.heic",
    ])
    func profilesAreApplied(name: String) throws {
        let image = try Goldens.image(name)
        try expectEqual(image, Goldens.expected(name), tolerance: name.hasSuffix("jpg") ? 2 : 1)
        try expectDifferent(image, Goldens.image("rgb8.png"))
    }

    /// Gray of a brighter scale becomes sRGB's.
    @Test(arguments: ["profile-gray.png", "profile-grayjpeg.jpg"])
    func profilesOfGrayAreApplied(name: String) throws {
        let image = try Goldens.image(name)
        try expectEqual(image, Goldens.expected(name), tolerance: name.hasSuffix("jpg") ? 2 : 1)
        try expectDifferent(image, Goldens.image("tiff-gray.tif"))
    }

    private func expectDifferent(_ image: Image, _ plain: Image) {
        let difference = zip(image.pixels, plain.pixels).map { abs(Int($0) - Int($1)) }.max() ?? 0
        #expect(difference > 15)
    }

    @Test(arguments: [
        (nil, 1), (67, 1), (66, 1), (34, 1), (33, 2), (17, 4), (9, 8), (1, 8), (0, 8),
    ])
    func jpegIsScaledWhileDecoding(minimumSide: Int?, scale: Int) throws {
        let image = try Image(contentsOf: Goldens.path("scaled.jpg"), minimumSide: minimumSide)
        try expectEqual(image, Goldens.image("scaled-\(scale).expected.png"), tolerance: 2)
    }

    @Test func otherFormatsAreNotScaled() throws {
        let image = try Image(contentsOf: Goldens.path("rgb8.png"), minimumSide: 1)
        #expect(image.width == 31)
    }

    @Test func orientationIsReadInBothByteOrders() {
        let little: [UInt8] = [
            0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0,
        ]
        let big: [UInt8] = [
            0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0,
        ]
        for tiff in [little, big] {
            #expect(Orientation(of: webp(exif: tiff), format: .webp) == .turnRight)
            for length in 0..<20 {
                let cut = Array(tiff.prefix(length))
                #expect(Orientation(of: webp(exif: cut), format: .webp) == .upright)
            }
        }
    }

    private func webp(exif: [UInt8]) -> [UInt8] {
        let size: [UInt8] = [UInt8(exif.count), 0, 0, 0]
        return Array("RIFF....WEBPEXIF".utf8) + size + exif
    }
}
