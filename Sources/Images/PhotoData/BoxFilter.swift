/// A box filter with fractional ends: all samples within the radius count fully, the next one on
/// either side counts partly. Several passes approximate a Gaussian; the time does not depend on
/// the radius.
struct BoxFilter {
    let passes: Int
    /// Samples on either side that count fully.
    private let radius: Int
    /// The weight of a full sample, and of the next one on either side.
    private let full, partial: Double

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
        (self.passes, radius) = (passes, Int(whole))
        full = 1 / (2 * (whole + fraction) + 1)
        partial = full * fraction
    }

    func blurRows(of plane: inout [Float], width: Int, height: Int) {
        var row = [Double](repeating: 0, count: width)
        for y in 0..<height {
            let start = y * width
            for x in 0..<width { row[x] = Double(plane[start + x]) }
            func value(_ x: Int) -> Double { row[min(max(x, 0), width - 1)] }
            var sum = (-radius...radius).reduce(0) { $0 + value($1) }
            for x in 0..<width {
                let ends = value(x - radius - 1) + value(x + radius + 1)
                plane[start + x] = Float(full * sum + partial * ends)
                sum += value(x + radius + 1) - value(x - radius)
            }
        }
    }

    func blurColumns(of plane: inout [Float], width: Int, height: Int) {
        let source = plane
        func row(_ y: Int) -> Int { min(max(y, 0), height - 1) * width }
        var sums = [Double](repeating: 0, count: width)
        for y in -radius...radius {
            for x in 0..<width { sums[x] += Double(source[row(y) + x]) }
        }
        for y in 0..<height {
            let (above, below) = (row(y - radius - 1), row(y + radius + 1))
            let (first, target) = (row(y - radius), row(y))
            for x in 0..<width {
                let ends = Double(source[above + x]) + Double(source[below + x])
                plane[target + x] = Float(full * sums[x] + partial * ends)
                sums[x] += Double(source[below + x]) - Double(source[first + x])
            }
        }
    }
}
