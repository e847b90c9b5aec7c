/// How much colors change along a known motion: the mean distance in the ab plane between each
/// pixel and the place in the frame before that it comes from.
///
/// It is the warp error of Lai et al. (2018, "Learning Blind Video Temporal Consistency") of a and
/// b only, because coloring does not change lightness, and of distances instead of their squares.
package struct WarpError: Sendable {
    private var sum = 0.0
    private var count = 0

    package init() {}

    /// The mean over all pixels that were added; NaN before any.
    package var mean: Double { sum / Double(count) }

    /// Adds a pair of frames; pixels that come from outside, or whose origin is not seen, are left
    /// out.
    ///
    /// - Parameters:
    ///   - frame: a and b of the newer frame.
    ///   - earlier: a and b of the frame before it.
    ///   - motion: from the newer frame back to the one before.
    package mutating func add(
        _ frame: (a: [Float], b: [Float]), after earlier: (a: [Float], b: [Float]),
        along motion: MotionField
    ) {
        let (width, height) = (motion.width, motion.height)
        for y in 0..<height {
            for x in 0..<width {
                let index = y * width + x
                guard motion.reliability[index] >= Self.leastReliability else { continue }
                let place = SIMD2(Float(x) + motion.dx[index], Float(y) + motion.dy[index])
                guard let at = Corner(place, width: width, height: height) else { continue }
                let da = at.value(in: earlier.a) - frame.a[index]
                let db = at.value(in: earlier.b) - frame.b[index]
                sum += Double((da * da + db * db).squareRoot())
                count += 1
            }
        }
    }

    private static let leastReliability: Float = 0.5
}

/// The four pixels around a place.
private struct Corner {
    private let index, right, below: Int
    private let part: SIMD2<Float>

    /// - Returns: nil if the place is outside.
    init?(_ place: SIMD2<Float>, width: Int, height: Int) {
        guard place.x >= 0, place.y >= 0, place.x <= Float(width - 1),
            place.y <= Float(height - 1)
        else { return nil }
        let (left, top) = (Int(place.x), Int(place.y))
        index = top * width + left
        (right, below) = (left + 1 < width ? 1 : 0, top + 1 < height ? width : 0)
        part = place - SIMD2(Float(left), Float(top))
    }

    func value(in plane: [Float]) -> Float {
        let upper = plane[index] + part.x * (plane[index + right] - plane[index])
        let lower =
            plane[index + below] + part.x * (plane[index + below + right] - plane[index + below])
        return upper + part.y * (lower - upper)
    }
}
