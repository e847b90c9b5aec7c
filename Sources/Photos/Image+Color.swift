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
        withColor { range in (Array(a[range]), Array(b[range])) }
    }

    /// The image without color: a and b are 0, and the lightness is unchanged.
    public var gray: Image {
        withColor { range in
            let zeros = [Float](repeating: 0, count: range.count)
            return (zeros, zeros)
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

    /// Works in chunks, so that a large image does not need six times its size in memory.
    private func withColor(_ color: (Range<Int>) -> (a: [Float], b: [Float])) -> Image {
        let count = width * height
        var result: [UInt8] = []
        result.reserveCapacity(3 * count)
        for start in stride(from: 0, to: count, by: 1 << 16) {
            let range = start..<min(start + 1 << 16, count)
            let chunk = lab(fromRGB: Array(pixels[3 * range.lowerBound..<3 * range.upperBound]))
            let (a, b) = color(range)
            result += rgb(fromLab: LabPlanes(l: chunk.l, a: a, b: b))
        }
        return Image(width: width, height: height, pixels: result)
    }
}
