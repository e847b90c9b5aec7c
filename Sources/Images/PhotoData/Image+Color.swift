import RetintColor
import RetintImages
import RetintTensors

extension Image {
    /// Replaces the image's color and keeps its lightness; colors outside sRGB are clamped.
    ///
    /// - Parameters:
    ///   - a: the a channel of Lab, one value per pixel, row by row from the top.
    ///   - b: the b channel, in the same order.
    /// - Precondition: both have `width * height` values.
    public func withColor(a: [Float], b: [Float]) -> Image {
        var result = self
        result.recolor(a: a, b: b)
        return result
    }

    /// The image without color: a and b are 0, and the lightness is unchanged.
    public var gray: Image {
        let zeros = [Float](repeating: 0, count: width)
        var result = self
        result.recolorRows { _, pixels, count in
            Recoloring.recolor(pixels, a: zeros, b: zeros, count: count)
        }
        return result
    }

    /// Replaces the image's color by upsampled colors of another size.
    ///
    /// - Parameters:
    ///   - a: the a channel of Lab, row by row from the top.
    ///   - b: the b channel, in the same order.
    ///   - width: the width of the colors in pixels.
    ///   - height: the height of the colors in pixels.
    ///   - guide: the lightness at the size of the colors, for upsampling with the lightness of the
    ///     image as a guide; nil for bilinear upsampling.
    ///   - threads: the number of threads. The colors are the same with any number.
    /// - Precondition: `a`, `b` and `guide` have `width * height` values.
    package mutating func recolor(
        a: [Float], b: [Float], width: Int, height: Int, guide: [Float]? = nil,
        threads: Int = 1
    ) {
        precondition(a.count == width * height && b.count == a.count, "colors of another size")
        let resampler = PlaneResampler(
            from: (width, height), to: (self.width, self.height), filter: .bilinear)
        guard let guide else {
            let enlarged = EnlargedRows(resampler, [a, b], threads: threads)
            return recolorBands(enlarged, threads: threads) { rows, pixels, count in
                Recoloring.recolor(pixels, a: rows[0], b: rows[1], count: count)
            }
        }
        let side = Double(width * height).squareRoot()
        let colors = GuidedColors(
            lightness: guide, a: a, b: b, width: width, height: height,
            radius: max(Int((side * Self.guideRadius).rounded()), 1),
            regularization: Self.guideRegularization)
        let enlarged = EnlargedRows(
            resampler, [colors.scaleA, colors.offsetA, colors.scaleB, colors.offsetB],
            threads: threads)
        recolorBands(enlarged, threads: threads) { rows, pixels, count in
            Recoloring.recolor(
                pixels, scaleA: rows[0], offsetA: rows[1], scaleB: rows[2], offsetB: rows[3],
                count: count)
        }
    }

    // Chosen on the validation photos of Datasets/debian-photos. The radius is in sides of a square
    // of the color's area.
    private static let guideRadius = 4.0 / 256
    private static let guideRegularization: Float = 1

    /// The lightness of the image, resized.
    ///
    /// - Parameters:
    ///   - height: in pixels.
    ///   - width: in pixels.
    /// - Returns: L in 0…100, [1, 1, height, width].
    public func lightness(height: Int, width: Int) -> TensorData {
        let resized = resized(to: width, height: height)
        return TensorData(shape: [1, 1, height, width], scalars: lab(fromRGB: resized.pixels).l)
    }

    private mutating func recolor(a: [Float], b: [Float]) {
        let count = width * height
        precondition(a.count == count && b.count == count, "colors of another size")
        pixels.withUnsafeMutableBufferPointer {
            guard let start = $0.baseAddress else { return }
            Recoloring.recolor(start, a: a, b: b, count: count)
        }
    }

    /// Recolors row by row.
    ///
    /// - Parameter body: receives the index of each row, its pixels and their number.
    private mutating func recolorRows(_ body: (Int, UnsafeMutablePointer<UInt8>, Int) -> Void) {
        let (width, height) = (width, height)
        precondition(pixels.count == 3 * width * height, "pixels of another size")
        pixels.withUnsafeMutableBufferPointer { pixels in
            guard let start = pixels.baseAddress else { return }
            for row in 0..<height { body(row, start + 3 * width * row, width) }
        }
    }
}

extension Image {
    /// Rows that one thread recolors at a time.
    private static let bandRows = 64

    /// Recolors row by row, several bands of rows at the same time.
    ///
    /// - Parameter body: receives the row of the upsampled planes, the row's pixels and their
    ///   number.
    private mutating func recolorBands(
        _ enlarged: EnlargedRows, threads: Int,
        _ body: (EnlargedRows, UnsafeMutablePointer<UInt8>, Int) -> Void
    ) {
        let (width, height) = (width, height)
        precondition(pixels.count == 3 * width * height, "pixels of another size")
        pixels.withUnsafeMutableBufferPointer { pixels in
            guard let start = pixels.baseAddress else { return }
            let bands = (height + Self.bandRows - 1) / Self.bandRows
            concurrently(bands, threads: threads) { band in
                var rows = enlarged
                let first = band * Self.bandRows
                for row in first..<min(first + Self.bandRows, height) {
                    rows.move(to: row)
                    body(rows, start + 3 * width * row, width)
                }
            }
        }
    }
}

/// Planes that are upsampled row by row, so that memory stays bounded.
private struct EnlargedRows {
    private let resampler: PlaneResampler
    private let wide: [[Float]]
    private var rows: [[Float]]

    init(_ resampler: PlaneResampler, _ planes: [[Float]], threads: Int) {
        self.resampler = resampler
        var wide = [[Float]](repeating: [], count: planes.count)
        wide.withUnsafeMutableBufferPointer { wide in
            concurrently(planes.count, threads: threads) { index in
                wide[index] = resampler.widened(planes[index])
            }
        }
        self.wide = wide
        rows = planes.map { _ in [Float](repeating: 0, count: resampler.width) }
    }

    mutating func move(to row: Int) {
        for index in wide.indices {
            resampler.blendRows(wide[index], forRow: row, into: &rows[index])
        }
    }

    subscript(index: Int) -> [Float] { rows[index] }
}
