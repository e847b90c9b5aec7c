import CRetintColor

/// Other colors for pixels that keep their lightness.
///
/// The bytes are those of ``rgb(fromLab:)`` with the L of ``lab(fromRGB:)``, in an eighth of the
/// time: a and b of the old color are not computed, and nothing is stored in between.
package enum Recoloring {
    /// The contribution of each level of red to Y, then those of green and of blue.
    private static let luminance: [Float] = [0.212671, 0.715160, 0.072169].flatMap { share in
        SRGBCurve.linear.map { $0 * share }
    }

    private static let levels = SRGBCurve.encoder.level.map(Int32.init)

    /// Replaces the colors of pixels in place.
    ///
    /// - Parameters:
    ///   - pixels: `count` times red, green and blue.
    ///   - a: the a channel of Lab, one value per pixel.
    ///   - b: the b channel.
    package static func recolor(
        _ pixels: UnsafeMutablePointer<UInt8>, a: UnsafePointer<Float>, b: UnsafePointer<Float>,
        count: Int
    ) {
        cs_recolor(
            pixels, a, b, count, luminance, levels, SRGBCurve.encoder.boundary,
            Int32(SRGBEncoder.cells))
    }

    /// Replaces the colors of pixels in place by functions of their lightness.
    ///
    /// - Parameters:
    ///   - pixels: `count` times red, green and blue.
    ///   - scaleA: a = scaleA · L + offsetA, one of each per pixel.
    ///   - offsetA: see `scaleA`.
    ///   - scaleB: b = scaleB · L + offsetB.
    ///   - offsetB: see `scaleB`.
    package static func recolor(
        _ pixels: UnsafeMutablePointer<UInt8>, scaleA: UnsafePointer<Float>,
        offsetA: UnsafePointer<Float>, scaleB: UnsafePointer<Float>,
        offsetB: UnsafePointer<Float>, count: Int
    ) {
        cs_recolor_linear(
            pixels, scaleA, offsetA, scaleB, offsetB, count, luminance, levels,
            SRGBCurve.encoder.boundary, Int32(SRGBEncoder.cells))
    }
}
