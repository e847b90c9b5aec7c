import Testing

@testable import RetintImages

@Suite struct GeometryTests {
    /// Pixels that say where they are: red is x, green y.
    private func map(width: Int, height: Int) -> Image {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width { pixels += [UInt8(x), UInt8(y), 9] }
        }
        return Image(width: width, height: height, pixels: pixels)
    }

    private func pixel(_ image: Image, _ x: Int, _ y: Int) -> [UInt8] {
        let start = 3 * (y * image.width + x)
        return Array(image.pixels[start..<start + 3])
    }

    @Test func croppedPixelsComeFromTheRectangle() {
        let image = map(width: 7, height: 5).cropped(x: 2, y: 1, width: 4, height: 3)
        #expect(image.width == 4 && image.height == 3)
        #expect(pixel(image, 0, 0) == [2, 1, 9])
        #expect(pixel(image, 3, 2) == [5, 3, 9])
    }

    @Test func flippedTwiceIsTheSame() {
        let image = map(width: 7, height: 5)
        #expect(pixel(image.flippedHorizontally(), 0, 4) == [6, 4, 9])
        #expect(image.flippedHorizontally().flippedHorizontally() == image)
    }

    @Test func stripHoldsItsImages() {
        let (left, right) = (map(width: 3, height: 2), map(width: 2, height: 4))
        let strip = Image.sideBySide([left, right], gap: 1)
        #expect(strip.width == 6 && strip.height == 4)
        #expect(strip.cropped(x: 0, y: 0, width: 3, height: 2) == left)
        #expect(strip.cropped(x: 4, y: 0, width: 2, height: 4) == right)
        #expect(pixel(strip, 3, 0) == [255, 255, 255])
        #expect(pixel(strip, 0, 3) == [255, 255, 255])
    }
}
