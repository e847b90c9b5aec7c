import RetintTensors

/// Images whose variance is the same in each octave of frequencies, as that of photos is (Field
/// 1987): sums of noise on grids of 1, 2, 4, … pixels, interpolated linearly.
struct NaturalNoise {
    let lower, upper: Float

    /// The deviation of an octave, as a share of the range: eight octaves have that of photos.
    private static let deviation: Float = 0.09

    /// Values within the range. The last two axes are the height and the width; the planes of an
    /// image, such as the channels of a gray photo, are alike.
    ///
    /// - Parameter shape: of at least two axes.
    func values(_ shape: Shape, _ random: inout RandomStream) -> TensorData {
        let (height, width) = (shape[shape.rank - 2], shape[shape.rank - 1])
        let planes = shape.rank > 2 ? shape[shape.rank - 3] : 1
        let images = shape.count / (planes * height * width)
        var scalars: [Float] = []
        scalars.reserveCapacity(shape.count)
        for _ in 0..<images {
            let image = plane(height: height, width: width, &random)
            for _ in 0..<planes { scalars += image }
        }
        return TensorData(shape: shape, scalars: scalars)
    }

    private var middle: Float { (lower + upper) / 2 }

    private func plane(height: Int, width: Int, _ random: inout RandomStream) -> [Float] {
        var sum = [Float](repeating: 0, count: height * width)
        var step = 1
        repeat {
            addOctave(to: &sum, height: height, width: width, step: step, &random)
            step *= 2
        } while step < max(height, width)
        let scale = Self.deviation * (upper - lower)
        return sum.map { min(max(middle + scale * $0, lower), upper) }
    }

    /// Adds noise on a grid of points that are `step` pixels apart.
    private func addOctave(
        to sum: inout [Float], height: Int, width: Int, step: Int, _ random: inout RandomStream
    ) {
        let columns = width / step + 2
        var (upper, lower) = (row(of: columns, &random), row(of: columns, &random))
        for y in 0..<height {
            let down = Float(y % step) / Float(step)
            if y > 0, y.isMultiple(of: step) { (upper, lower) = (lower, row(of: columns, &random)) }
            for x in 0..<width {
                let (column, across) = (x / step, Float(x % step) / Float(step))
                let (left, right) = (
                    upper[column] + down * (lower[column] - upper[column]),
                    upper[column + 1] + down * (lower[column + 1] - upper[column + 1])
                )
                sum[y * width + x] += left + across * (right - left)
            }
        }
    }

    private func row(of count: Int, _ random: inout RandomStream) -> [Float] {
        (0..<count).map { _ in Float(random.normal()) }
    }
}
