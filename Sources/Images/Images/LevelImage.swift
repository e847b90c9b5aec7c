package import RetintFiles

/// The samples of an image of one channel as its file stores them: no palette, no color profile and
/// no scaling is applied. Used for masks.
package struct LevelImage: Hashable, Sendable {
    /// The size in pixels.
    package let width, height: Int
    /// Row by row from the top, pixels from left to right, 0 up to ``highest``.
    package let levels: [UInt16]
    /// The bits of a sample in the file: 1, 2, 4, 8 or 16.
    package let bitDepth: Int
    /// Whether the levels are indices into a palette.
    package let areIndices: Bool

    /// The level of white.
    package var highest: UInt16 { UInt16((1 << bitDepth) - 1) }

    /// Reads a PNG that is grayscale or has a palette, turned upright as its EXIF orientation
    /// states. Transparency is dropped.
    ///
    /// - Throws: `ImageError` if the file cannot be read, exceeds a limit, is damaged or is not
    ///   such PNG.
    package init(
        contentsOf path: some PathConvertible, limits: ImageLimits = .default
    ) throws(ImageError) {
        let decoder = try Decoder(contentsOf: path, limits: limits)
        guard let stored = try decoder.decodeLevels() else {
            throw ImageError(
                .format, decoder.file, "its pixels are colors, not indices",
                remedy: "save it as a grayscale PNG or one with a palette")
        }
        self = stored.turned(decoder.orientation)
    }

    /// Reads any image as gray values, turned upright. A grayscale PNG keeps its levels; colors
    /// become their luma (ITU-R BT.601), without regard to a color profile.
    ///
    /// - Throws: `ImageError` if the file cannot be read, exceeds a limit or is damaged.
    package static func gray(
        contentsOf path: some PathConvertible, limits: ImageLimits = .default
    ) throws(ImageError) -> LevelImage {
        let decoder = try Decoder(contentsOf: path, limits: limits)
        if let stored = try decoder.decodeLevels(), !stored.areIndices {
            return stored.turned(decoder.orientation)
        }
        return LevelImage(lumaOf: try decoder.decode(minimumSide: nil).turned(decoder.orientation))
    }

    /// The luma of an image, 8 bits, as Pillow's `convert("L")`.
    package init(lumaOf image: Image) {
        image.checkPixels()
        let luma = stride(from: 0, to: image.pixels.count, by: 3).map { start -> UInt16 in
            let (red, green, blue) = (
                Int(image.pixels[start]), Int(image.pixels[start + 1]),
                Int(image.pixels[start + 2])
            )
            // The weights in 65,536ths.
            return UInt16((red * 19_595 + green * 38_470 + blue * 7471 + 0x8000) >> 16)
        }
        self.init(
            width: image.width, height: image.height, levels: luma, bitDepth: 8, areIndices: false)
    }

    init(width: Int, height: Int, levels: [UInt16], bitDepth: Int, areIndices: Bool) {
        (self.width, self.height, self.levels) = (width, height, levels)
        (self.bitDepth, self.areIndices) = (bitDepth, areIndices)
    }

    private func turned(_ orientation: Orientation) -> LevelImage {
        guard orientation != .upright else { return self }
        let walk = Walk(orientation, width: width, height: height)
        return LevelImage(
            width: walk.width, height: walk.height, levels: walk.moved(levels, channels: 1),
            bitDepth: bitDepth, areIndices: areIndices)
    }
}

extension Decoder {
    fileprivate init(
        contentsOf path: some PathConvertible, limits: ImageLimits
    ) throws(ImageError) {
        let file = path.filePath.string
        let bytes = try imageBytes(file, limits)
        self.init(
            format: try SourceFormat(of: bytes, file: file), bytes: bytes, file: file,
            limits: limits)
    }

    fileprivate var orientation: Orientation { Orientation(of: bytes, format: format) }
}
