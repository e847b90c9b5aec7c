import ColorScience
import ImageIO
import TensorGraph

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
        result.recolorRows { _, color in color(zeros, zeros) }
        return result
    }

    /// Replaces the image's color by one of another size, which is enlarged bilinearly.
    ///
    /// - Parameters:
    ///   - a: the a channel of Lab, row by row from the top.
    ///   - b: the b channel, in the same order.
    ///   - width: of the color, in pixels.
    ///   - height: of the color, in pixels.
    /// - Precondition: `a` and `b` have `width * height` values.
    package mutating func recolor(a: [Float], b: [Float], width: Int, height: Int) {
        precondition(a.count == width * height && b.count == a.count, "colors of another size")
        let resampler = PlaneResampler(
            from: (width, height), to: (self.width, self.height), filter: .bilinear)
        let wideA = resampler.widened(a), wideB = resampler.widened(b)
        var rowA = [Float](repeating: 0, count: self.width), rowB = rowA
        recolorRows { row, color in
            resampler.blendRows(wideA, forRow: row, into: &rowA)
            resampler.blendRows(wideB, forRow: row, into: &rowB)
            color(rowA, rowB)
        }
    }

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
    /// - Parameter body: receives the index of each row and a function that takes its a and b.
    private mutating func recolorRows(_ body: (Int, (_ a: [Float], _ b: [Float]) -> Void) -> Void) {
        let (width, height) = (width, height)
        precondition(pixels.count == 3 * width * height, "pixels of another size")
        pixels.withUnsafeMutableBufferPointer { pixels in
            guard let start = pixels.baseAddress else { return }
            for row in 0..<height {
                body(row) { a, b in
                    Recoloring.recolor(start + 3 * width * row, a: a, b: b, count: width)
                }
            }
        }
    }
}
