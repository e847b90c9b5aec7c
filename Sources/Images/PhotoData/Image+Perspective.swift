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

    package func value(_ pixel: (Int) -> Float) -> Float {
        let above = pixel(indices.0) + (pixel(indices.1) - pixel(indices.0)) * right
        let under = pixel(indices.2) + (pixel(indices.3) - pixel(indices.2)) * right
        return above + (under - above) * below
    }
}
