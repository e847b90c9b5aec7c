package import RetintFiles

/// An object on a transparent background, to be pasted onto images.
package struct CutOut: Hashable, Sendable {
    /// The colors, multiplied by the coverage (premultiplied alpha).
    private let colors: Image
    /// The coverage (alpha) 0…255, equal in all three channels.
    private let coverage: Image

    /// The width in pixels.
    package var width: Int { colors.width }
    /// The height in pixels.
    package var height: Int { colors.height }

    /// Reads a PNG, WebP or TIFF image with transparency; an embedded color profile is not applied.
    ///
    /// - Throws: `ImageError` if the file cannot be read, exceeds a limit, is incomplete or of a
    ///   format without transparency.
    package init(contentsOf path: some PathConvertible, limits: ImageLimits = .default)
        throws(ImageError)
    {
        let path = path.filePath.string
        let bytes = try imageBytes(path, limits)
        let decoder = Decoder(
            format: try SourceFormat(of: bytes, file: path), bytes: bytes, file: path,
            limits: limits)
        let (width, height, pixels) = try decoder.decodeWithAlpha()
        var (colors, coverage) = ([UInt8](), [UInt8]())
        colors.reserveCapacity(3 * width * height)
        coverage.reserveCapacity(3 * width * height)
        for index in stride(from: 0, to: pixels.count, by: 4) {
            let alpha = Int(pixels[index + 3])
            for channel in 0..<3 {
                colors.append(UInt8((Int(pixels[index + channel]) * alpha + 127) / 255))
                coverage.append(pixels[index + 3])
            }
        }
        self.colors = Image(width: width, height: height, pixels: colors)
        self.coverage = Image(width: width, height: height, pixels: coverage)
    }

    private init(_ colors: Image, _ coverage: Image) {
        (self.colors, self.coverage) = (colors, coverage)
    }

    /// The object scaled so that its longer side has `side` pixels.
    package func resized(toLongSide side: Int) -> CutOut {
        let long = max(width, height)
        func scaled(_ image: Image) -> Image {
            image.resized(
                to: max(1, width * side / long), height: max(1, height * side / long),
                filter: .bilinear)
        }
        return CutOut(scaled(colors), scaled(coverage))
    }

    /// The object mirrored left to right.
    package func flippedHorizontally() -> CutOut {
        CutOut(colors.flippedHorizontally(), coverage.flippedHorizontally())
    }

    /// `image` with the object pasted onto it, its upper left corner at (`x`, `y`).
    ///
    /// - Precondition: The object is within the image.
    package func laid(over image: Image, x: Int, y: Int) -> Image {
        precondition(
            x >= 0 && y >= 0 && width <= image.width - x && height <= image.height - y,
            "\(width) × \(height) pixels at (\(x), \(y)) are not within the image")
        var result = image
        for row in 0..<height {
            let (from, to) = (3 * row * width, 3 * ((y + row) * image.width + x))
            for index in 0..<(3 * width) {
                let background = Int(image.pixels[to + index])
                let visible = (255 - Int(coverage.pixels[from + index])) * background + 127
                // Rounding may exceed 255 by one.
                result.pixels[to + index] = UInt8(
                    min(255, Int(colors.pixels[from + index]) + visible / 255))
            }
        }
        return result
    }
}
