extension Image {
    /// The rectangle whose upper left corner is at (`x`, `y`).
    ///
    /// - Precondition: It is within the image and not empty.
    public func cropped(x: Int, y: Int, width: Int, height: Int) -> Image {
        precondition(
            x >= 0 && y >= 0 && width > 0 && height > 0 && width <= self.width - x
                && height <= self.height - y,
            "\(width) × \(height) pixels at (\(x), \(y)) are not within "
                + "\(self.width) × \(self.height)")
        checkPixels()
        var result: [UInt8] = []
        result.reserveCapacity(3 * width * height)
        for row in y..<y + height {
            let start = 3 * (row * self.width + x)
            result += pixels[start..<start + 3 * width]
        }
        return Image(width: width, height: height, pixels: result)
    }

    /// The image mirrored left to right.
    public func flippedHorizontally() -> Image { turned(.mirrored) }

    /// Images in a row from the left, `gap` pixels apart. The result is as tall as the tallest; the
    /// rest is white.
    ///
    /// - Precondition: There is at least one, and the gap is not negative.
    public static func sideBySide(_ images: [Image], gap: Int = 8) -> Image {
        precondition(!images.isEmpty && gap >= 0, "no images to put side by side")
        let width = images.reduce(gap * (images.count - 1)) { $0 + $1.width }
        let height = images.reduce(0) { max($0, $1.height) }
        var result = Image(width: width, height: height, red: 255, green: 255, blue: 255)
        var x = 0
        for image in images {
            result.paste(image, x: x)
            x += image.width + gap
        }
        return result
    }

    /// The image scaled down so that its shorter side has `side` pixels; itself if that is no
    /// longer.
    public func scaledDown(toShortSide side: Int) -> Image {
        let short = min(width, height)
        guard short > side else { return self }
        return resized(
            to: max(width * side / short, side), height: max(height * side / short, side),
            filter: .bilinear)
    }

    /// Images of one size in rows of `columns`, `gap` white pixels apart.
    ///
    /// - Precondition: There is at least one image, and all have the first one's size.
    public static func grid(_ images: [Image], columns: Int, gap: Int = 8) -> Image {
        precondition(!images.isEmpty && columns > 0, "no images to put into a grid")
        let (width, height) = (images[0].width + gap, images[0].height + gap)
        let rows = (images.count + columns - 1) / columns
        var result = Image(
            width: min(columns, images.count) * width - gap, height: rows * height - gap,
            red: 255, green: 255, blue: 255)
        for (index, image) in images.enumerated() {
            result.paste(image, x: index % columns * width, y: index / columns * height)
        }
        return result
    }

    private mutating func paste(_ image: Image, x: Int, y top: Int = 0) {
        image.checkPixels()
        for y in 0..<image.height {
            let source = 3 * y * image.width
            let target = 3 * ((top + y) * width + x)
            pixels.replaceSubrange(
                target..<target + 3 * image.width,
                with: image.pixels[source..<source + 3 * image.width])
        }
    }

    func turned(_ orientation: Orientation) -> Image {
        guard orientation != .upright else { return self }
        checkPixels()
        let walk = Walk(orientation, width: width, height: height)
        return Image(
            width: walk.width, height: walk.height, pixels: walk.moved(pixels, channels: 3))
    }
}

/// The order of an image's pixels that produces the turned image.
struct Walk {
    /// The size of the turned image.
    let width, height: Int
    /// The offset at which the turned image starts and the distances between its columns and
    /// between its rows, in pixels.
    private let start, column, row: Int

    init(_ orientation: Orientation, width: Int, height: Int) {
        let swaps = orientation.swapsSides
        (self.width, self.height) = swaps ? (height, width) : (width, height)
        let (right, below, last) = (width - 1, width * (height - 1), width * height - 1)
        (start, column, row) =
            switch orientation {
            case .upright: (0, 1, width)
            case .mirrored: (right, -1, width)
            case .upsideDown: (last, -1, -width)
            case .flipped: (below, 1, -width)
            case .transposed: (0, width, 1)
            case .turnRight: (below, -width, 1)
            case .transverse: (last, -width, -1)
            case .turnLeft: (right, width, -1)
            }
    }

    /// The samples in the order of the turned image.
    @inline(__always)
    func moved<Sample>(_ samples: [Sample], channels: Int) -> [Sample] {
        [Sample](unsafeUninitializedCapacity: samples.count) { buffer, count in
            count = samples.count
            samples.withUnsafeBufferPointer { source in
                for y in 0..<height {
                    let (target, from) = (y * width, start + y * row)
                    for x in 0..<width {
                        let (to, from) = (channels * (target + x), channels * (from + x * column))
                        for channel in 0..<channels {
                            buffer[to + channel] = source[from + channel]
                        }
                    }
                }
            }
        }
    }
}
