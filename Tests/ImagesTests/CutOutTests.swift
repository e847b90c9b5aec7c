import Testing

@testable import RetintImages

@Suite struct CutOutTests {
    /// Over an image, as Pillow's `alpha_composite` lays them; a file without transparency hides
    /// it.
    @Test(arguments: [
        "rgba8.png", "grayalpha8.png", "palette-transparent.png", "rgb16.png", "alpha.webp",
        "tiff-alpha.tif", "tiff-grayalpha.tif",
    ])
    func compositionEqualsPillow(name: String) throws {
        let ground = try Goldens.image("rgb8.png").flippedHorizontally()
        let object = try CutOut(contentsOf: Goldens.path(name))
        let base = name.prefix { $0 != "." }
        try expectEqual(
            object.laid(over: ground, x: 0, y: 0), Goldens.image("\(base)-over.expected.png"),
            tolerance: 1)
    }

    @Test func objectsAreScaledMirroredAndPlaced() throws {
        let object = try CutOut(contentsOf: Goldens.path("rgb16.png"))
        let small = object.resized(toLongSide: 10)
        #expect(small.width == 10 && small.height == 7)
        let ground = Image(width: 20, height: 15, red: 1, green: 2, blue: 3)
        let laid = small.laid(over: ground, x: 10, y: 8)
        #expect(
            laid.cropped(x: 0, y: 0, width: 20, height: 8).pixels
                == Array(ground.pixels.prefix(480)))
        let shown = laid.cropped(x: 10, y: 8, width: 10, height: 7)
        let mirrored = small.flippedHorizontally().laid(over: ground, x: 10, y: 8)
        #expect(mirrored.cropped(x: 10, y: 8, width: 10, height: 7).flippedHorizontally() == shown)
        #expect(shown.pixels != mirrored.cropped(x: 10, y: 8, width: 10, height: 7).pixels)
    }

    @Test func jpegsAreRefused() throws {
        let error = #expect(throws: ImageError.self) {
            try CutOut(contentsOf: Goldens.path("jpeg444.jpg"))
        }
        #expect(
            error?.description.contains("transparency is read from PNG, WebP and TIFF files alone")
                == true)
    }
}
