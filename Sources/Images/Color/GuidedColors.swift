/// Colors as linear functions of the lightness around each pixel, for upsampling them with a large
/// image's lightness as a guide.
///
/// This is the fast guided filter (He and Sun, "Fast Guided Filter", 2015): in each window of
/// (2r + 1)² pixels, a = scale · L + offset by least squares, with `regularization` on the scale;
/// a pixel's function is the mean of those of the windows that contain it. Where colors change
/// together with the lightness, the upsampled colors change at the large image's edge. Its time is
/// linear in the number of pixels, whatever the radius.
package struct GuidedColors: Sendable {
    /// The functions of each pixel, row by row from the top.
    package private(set) var scaleA, offsetA, scaleB, offsetB: [Float]

    /// - Parameters:
    ///   - lightness: L of the small image, row by row from the top.
    ///   - a: its estimated a.
    ///   - b: its estimated b.
    ///   - radius: of a window, in pixels.
    ///   - regularization: the variance of L, in units of L², below which a window counts as flat.
    /// - Precondition: All have `width * height` values.
    package init(
        lightness: [Float], a: [Float], b: [Float], width: Int, height: Int, radius: Int,
        regularization: Float
    ) {
        let count = width * height
        precondition(
            lightness.count == count && a.count == count && b.count == count,
            "colors and lightness of different sizes")
        let windows = BoxMean(width: width, height: height, radius: radius)
        let mean = windows.mean(lightness)
        let squares = windows.mean(lightness.map { $0 * $0 })
        let variance = zip(squares, mean).map { max($0 - $1 * $1, 0) + regularization }
        func functions(_ plane: [Float]) -> (scale: [Float], offset: [Float]) {
            let planeMean = windows.mean(plane)
            let products = windows.mean(zip(plane, lightness).map { $0 * $1 })
            let scale = (0..<count).map {
                (products[$0] - planeMean[$0] * mean[$0]) / variance[$0]
            }
            let offset = (0..<count).map { planeMean[$0] - scale[$0] * mean[$0] }
            return (windows.mean(scale), windows.mean(offset))
        }
        (scaleA, offsetA) = functions(a)
        (scaleB, offsetB) = functions(b)
    }
}

/// Means over square windows, by running sums along rows, then along columns. The image is
/// continued by its outermost pixels.
private struct BoxMean {
    let width, height, radius: Int

    func mean(_ plane: [Float]) -> [Float] {
        let rows = mean(plane, lines: height, length: width, step: 1, pitch: width)
        return mean(rows, lines: width, length: height, step: width, pitch: 1)
    }

    private func mean(
        _ plane: [Float], lines: Int, length: Int, step: Int, pitch: Int
    ) -> [Float] {
        var result = plane
        let scale = 1 / Double(2 * radius + 1)
        for line in 0..<lines {
            func value(_ place: Int) -> Double {
                Double(plane[line * pitch + min(max(place, 0), length - 1) * step])
            }
            // In double precision, so that the sums of a long line do not drift.
            var sum = (-radius - 1..<radius).reduce(0.0) { $0 + value($1) }
            for place in 0..<length {
                sum += value(place + radius) - value(place - radius - 1)
                result[line * pitch + place * step] = Float(sum * scale)
            }
        }
        return result
    }
}
