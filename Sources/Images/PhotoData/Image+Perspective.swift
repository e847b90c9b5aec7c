public import RetintImages

extension Image {
    /// The rectangle that a quadrilateral of the image shows in perspective, as seen from the
    /// front. Pixels are interpolated bilinearly.
    ///
    /// Each side is as long as the longer of the quadrilateral's two opposite sides, unless the
    /// result would have more pixels than the image.
    ///
    /// - Throws: ``PhotoError`` if the quadrilateral reaches beyond the image.
    public func straightened(_ quadrilateral: Quadrilateral) throws(PhotoError) -> Image {
        try quadrilateral.check(width: width, height: height)
        let (columns, rows) = quadrilateral.size(inPhoto: width, height)
        let map = Homography(fromWidth: Double(columns), height: Double(rows), to: quadrilateral)
        var result: [UInt8] = []
        result.reserveCapacity(3 * columns * rows)
        for y in 0..<rows {
            for x in 0..<columns {
                let cell = Cell(
                    map(SIMD2(Double(x) + 0.5, Double(y) + 0.5)), width: width, height: height)
                for channel in 0..<3 {
                    let value = cell.value { Float(pixels[3 * $0 + channel]) }
                    result.append(UInt8(value.rounded()))
                }
            }
        }
        return Image(width: columns, height: rows, pixels: result)
    }
}

/// The four pixels around a point, and their shares in bilinear interpolation. Beyond the edges the
/// outermost pixels repeat.
package struct Cell {
    private let indices: (Int, Int, Int, Int)
    private let right, below: Float

    /// - Parameter point: the center of the first pixel is (½, ½).
    package init(_ point: SIMD2<Double>, width: Int, height: Int) {
        // Points beyond the vanishing line are not numbers.
        func clamped(_ value: Double, _ count: Int) -> Double {
            value > 0.5 ? min(value - 0.5, Double(count - 1)) : 0
        }
        let x = clamped(point.x, width), y = clamped(point.y, height)
        let (column, row) = (Int(x), Int(y))
        let first = row * width + column
        let step = column + 1 < width ? 1 : 0
        let next = row + 1 < height ? first + width : first
        indices = (first, first + step, next, next + step)
        (right, below) = (Float(x - Double(column)), Float(y - Double(row)))
    }

    /// The four pixels, row by row.
    package var pixels: [Int] { [indices.0, indices.1, indices.2, indices.3] }

    package func value(_ pixel: (Int) -> Float) -> Float {
        interpolated(pixel(indices.0), pixel(indices.1), pixel(indices.2), pixel(indices.3))
    }

    /// - Parameter values: those of the four ``pixels``.
    package func value(of values: ArraySlice<Float>) -> Float {
        let first = values.startIndex
        return interpolated(
            values[first], values[first + 1], values[first + 2], values[first + 3])
    }

    private func interpolated(_ a: Float, _ b: Float, _ c: Float, _ d: Float) -> Float {
        let above = a + (b - a) * right
        let under = c + (d - c) * right
        return above + (under - above) * below
    }
}
