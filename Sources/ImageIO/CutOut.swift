/// An object on a transparent ground, to be laid over pictures.
public struct CutOut: Hashable, Sendable {
    /// The colors, times what they cover.
    private let colors: Image
    /// How much is covered, 0…255, the same in all three channels.
    private let coverage: Image

    public var width: Int { colors.width }
    public var height: Int { colors.height }

    /// Reads a PNG or WebP picture with transparency; a color profile in it is not applied.
    ///
    /// - Throws: `ImageError` if the file cannot be read, passes a limit, is not whole, or of a
    ///   format without transparency.
    public init(contentsOf path: String, limits: ImageLimits = .default) throws(ImageError) {
        let bytes = try imageBytes(path, limits)
        let decoder = Decoder(
            format: try SourceFormat(of: bytes, file: path), bytes: bytes, file: path,
            limits: limits)
        let (width, height, pixels) = try decoder.decodeWithAlpha()
        var (colors, coverage) = ([UInt8](), [UInt8]())
        colors.reserveCapacity(3 * width * height)
        coverage.reserveCapacity(3 * width * height)
        for place in stride(from: 0, to: pixels.count, by: 4) {
            let alpha = Int(pixels[place + 3])
            for channel in 0..<3 {
                colors.append(UInt8((Int(pixels[place + channel]) * alpha + 127) / 255))
                coverage.append(pixels[place + 3])
            }
        }
        self.colors = Image(width: width, height: height, pixels: colors)
        self.coverage = Image(width: width, height: height, pixels: coverage)
    }

    private init(_ colors: Image, _ coverage: Image) {
        (self.colors, self.coverage) = (colors, coverage)
    }

    /// The object with its longer side of `side` pixels.
    public func resized(toLongSide side: Int) -> CutOut {
        let long = max(width, height)
        func scaled(_ image: Image) -> Image {
            image.resized(
                to: max(1, width * side / long), height: max(1, height * side / long),
                filter: .bilinear)
        }
        return CutOut(scaled(colors), scaled(coverage))
    }

    public func flippedHorizontally() -> CutOut {
        CutOut(colors.flippedHorizontally(), coverage.flippedHorizontally())
    }

    /// `picture` with the object on it, its upper left corner at (`x`, `y`).
    ///
    /// - Precondition: the object lies within the picture.
    public func laid(over picture: Image, x: Int, y: Int) -> Image {
        precondition(
            x >= 0 && y >= 0 && width <= picture.width - x && height <= picture.height - y,
            "\(width) × \(height) pixels at (\(x), \(y)) are not within the picture")
        var result = picture
        for row in 0..<height {
            let (from, to) = (3 * row * width, 3 * ((y + row) * picture.width + x))
            for place in 0..<(3 * width) {
                let ground = Int(picture.pixels[to + place])
                let shown = (255 - Int(coverage.pixels[from + place])) * ground + 127
                // Rounding may pass 255 by one.
                result.pixels[to + place] = UInt8(
                    min(255, Int(colors.pixels[from + place]) + shown / 255))
            }
        }
        return result
    }
}
