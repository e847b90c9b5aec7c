extension Image {
    /// The rectangle whose upper left corner is at (`x`, `y`).
    ///
    /// - Precondition: It lies within the image and is not empty.
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
        precondition(!images.isEmpty && gap >= 0, "nothing to put side by side")
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
        precondition(!images.isEmpty && columns > 0, "nothing to put into a grid")
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
        let swaps = orientation.swapsSides
        let steps = steps(for: orientation)
        return Image(
            width: swaps ? height : width, height: swaps ? width : height,
            pixels: walk(steps, columns: swaps ? height : width))
    }

    /// The offset at which a turned image starts in this one and the distances between its columns
    /// and between its rows, in pixels.
    private func steps(for orientation: Orientation) -> (start: Int, column: Int, row: Int) {
        let (right, below, last) = (width - 1, width * (height - 1), width * height - 1)
        return switch orientation {
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

    private func walk(_ steps: (start: Int, column: Int, row: Int), columns: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: pixels.count) { buffer, count in
            count = pixels.count
            pixels.withUnsafeBufferPointer { source in
                for target in stride(from: 0, to: width * height, by: columns) {
                    let row = steps.start + target / columns * steps.row
                    for x in 0..<columns {
                        let (to, from) = (3 * (target + x), 3 * (row + x * steps.column))
                        buffer[to] = source[from]
                        buffer[to + 1] = source[from + 1]
                        buffer[to + 2] = source[from + 2]
                    }
                }
            }
        }
    }
}
