import Foundation
import RetintTestSupport
import Testing

@testable import RetintImages

/// Images of one channel as their files store them. Expected values are from
/// `Goldens/make_goldens.py`.
@Suite struct LevelTests {
    private static func expected(_ name: String) throws -> [UInt16] {
        let bytes = try Goldens.bytes("levels-\(name).u16")
        return stride(from: 0, to: bytes.count, by: 2).map {
            UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8
        }
    }

    @Test(arguments: [
        ("gray4", 4), ("grayalpha8", 8), ("interlaced8", 8), ("gray16", 16), ("interlaced16", 16),
        ("palette4", 4), ("turned8", 8),
    ])
    func levelsAreThoseOfTheFile(_ name: String, _ bits: Int) throws {
        let image = try LevelImage(contentsOf: Goldens.path("levels-\(name).png"))
        #expect((image.width, image.height) == (name == "turned8" ? (22, 31) : (31, 22)))
        #expect(image.levels == (try Self.expected(name)))
        #expect(image.bitDepth == bits && Int(image.highest) == (1 << bits) - 1)
        #expect(image.areIndices == (name == "palette4"))
    }

    @Test func oneBitIsZeroOrOne() throws {
        let image = try LevelImage(contentsOf: Goldens.path("gray1.png"))
        let pixels = try Goldens.expected("gray1.png").pixels
        #expect(
            image.levels
                == stride(from: 0, to: pixels.count, by: 3).map {
                    pixels[$0] == 255 ? 1 : 0
                })
        #expect(Set(image.levels) == [0, 1] && image.highest == 1)
    }

    @Test func colorsAreLuma() throws {
        let image = try LevelImage.gray(contentsOf: Goldens.path("rgb8.png"))
        #expect(image.levels == (try Self.expected("luma")) && image.bitDepth == 8)
        // Colors of a palette are not its indices.
        let palette = try LevelImage.gray(contentsOf: Goldens.path("levels-palette4.png"))
        #expect(palette == LevelImage(lumaOf: try Goldens.image("levels-palette4.png")))
        // Levels of gray keep all of their bits.
        let wide = try LevelImage.gray(contentsOf: Goldens.path("levels-gray16.png"))
        #expect(wide.levels == (try Self.expected("gray16")) && wide.bitDepth == 16)
        // A profile changes colors, but not masks.
        let tagged = try LevelImage.gray(contentsOf: Goldens.path("profile-png.png"))
        let image8 = try Image(contentsOf: Goldens.path("profile-png.png"))
        #expect(tagged.levels == (try Self.expected("luma")))
        #expect(tagged != LevelImage(lumaOf: image8))
    }

    @Test(arguments: ["rgb8.png", "jpeg-gray.jpg", "lossless.webp", "rgb16.png"])
    func othersHaveNoIndices(_ name: String) throws {
        let error = #expect(throws: ImageError.self) {
            try LevelImage(contentsOf: Goldens.path(name))
        }
        #expect(try #require(error).problem.contains("not indices"))
    }

    @Test func badFilesAreErrors() throws {
        let folder = try TemporaryFolder()
        for name in ["levels-gray16.png", "levels-interlaced8.png", "levels-palette4.png"] {
            let data = Data(try Goldens.bytes(name))
            for count in [0, 20, data.count / 2, data.count - 30] {
                let path = folder.path("cut.png")
                try data.prefix(count).write(to: URL(filePath: path))
                #expect(throws: ImageError.self) { try LevelImage(contentsOf: path) }
            }
            #expect(throws: ImageError.self) {
                try LevelImage(
                    contentsOf: Goldens.path(name), limits: ImageLimits(maximumPixels: 100))
            }
        }
        #expect(throws: ImageError.self) {
            try LevelImage(contentsOf: Goldens.path("too-many.bad.png"))
        }
    }
}
