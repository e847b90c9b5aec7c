/// A box filter with fractional ends: all samples within the radius count fully, the next one on
/// either side counts partly. Several passes approximate a Gaussian; the time does not depend on
/// the radius.
package struct BoxFilter: Hashable, Sendable {
    package let passes: Int
    /// Samples on either side that count fully.
    package let radius: Int
    /// The weight of a full sample, and of the next one on either side.
    package let full, partial: Float

    /// - Parameter deviation: the standard deviation of the Gaussian that all passes together
    ///   approximate.
    init(deviation: Double, passes: Int) {
        // A box of the variance s has the length √(12 s + 1); the fraction at its ends is such that
        // the variance is exact (Gwosdek et al., "Theoretical Foundations of Gaussian Convolution
        // by Extended Box Filtering", 2011).
        let variance = deviation * deviation / Double(passes)
        let whole = (((12 * variance + 1).squareRoot() - 1) / 2).rounded(.down)
        let fraction =
            (2 * whole + 1) * (whole * (whole + 1) - 3 * variance)
            / (6 * (variance - (whole + 1) * (whole + 1)))
        let weight = 1 / (2 * (whole + fraction) + 1)
        self.init(
            passes: passes, radius: Int(whole), full: Float(weight),
            partial: Float(weight * fraction))
    }

    package init(passes: Int, radius: Int, full: Float, partial: Float) {
        (self.passes, self.radius) = (passes, radius)
        (self.full, self.partial) = (full, partial)
    }

    func blurRows(of plane: inout [Float], width: Int, height: Int) {
        let (full, partial) = (Double(full), Double(partial))
        // The row between copies of its first and its last sample.
        let border = radius + 1
        var row = [Double](repeating: 0, count: width + 2 * border)
        plane.withUnsafeMutableBufferPointer { plane in
            row.withUnsafeMutableBufferPointer { row in
                for y in 0..<height {
                    let start = y * width
                    for x in row.indices {
                        row[x] = Double(plane[start + min(max(x - border, 0), width - 1)])
                    }
                    var sum = 0.0
                    for x in 1...2 * radius + 1 { sum += row[x] }
                    for x in 0..<width {
                        let (before, after) = (row[x], row[x + 2 * border])
                        plane[start + x] = Float(full * sum + partial * (before + after))
                        sum += after - row[x + 1]
                    }
                }
            }
        }
    }

    func blurColumns(of plane: inout [Float], width: Int, height: Int) {
        let (full, partial) = (Double(full), Double(partial))
        let source = plane
        var sums = [Double](repeating: 0, count: width)
        source.withUnsafeBufferPointer { source in
            func row(_ y: Int) -> UnsafeBufferPointer<Float> {
                let start = min(max(y, 0), height - 1) * width
                return UnsafeBufferPointer(rebasing: source[start..<start + width])
            }
            for y in -radius...radius {
                let added = row(y)
                for x in 0..<width { sums[x] += Double(added[x]) }
            }
            plane.withUnsafeMutableBufferPointer { plane in
                for y in 0..<height {
                    let (above, first, below) = (
                        row(y - radius - 1), row(y - radius), row(y + radius + 1)
                    )
                    let target = UnsafeMutableBufferPointer(
                        rebasing: plane[y * width..<(y + 1) * width])
                    sums.withUnsafeMutableBufferPointer { sums in
                        for x in 0..<width {
                            let ends = Double(above[x]) + Double(below[x])
                            target[x] = Float(full * sums[x] + partial * ends)
                            sums[x] += Double(below[x]) - Double(first[x])
                        }
                    }
                }
            }
        }
    }
}
