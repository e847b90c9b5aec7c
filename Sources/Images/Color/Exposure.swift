import Glibc

/// The pixels of an image with another exposure: linear light times 2^stops, clamped.
///
/// - Parameters:
///   - pixels: interleaved 8-bit sRGB.
///   - stops: 1 doubles the light.
package func exposed(_ pixels: [UInt8], stops: Double) -> [UInt8] {
    lit(pixels, gains: SIMD3(repeating: exp2(stops)))
}

/// The pixels of an image with other amounts of red, green and blue light, clamped.
///
/// - Parameters:
///   - pixels: interleaved 8-bit sRGB.
///   - gains: the factors of linear red, green and blue, at least 0.
package func lit(_ pixels: [UInt8], gains: SIMD3<Double>) -> [UInt8] {
    let tables = litLevels(gains: gains)
    var result = pixels
    for start in stride(from: 0, to: pixels.count - 2, by: 3) {
        for channel in 0..<3 {
            result[start + channel] = tables[256 * channel + Int(pixels[start + channel])]
        }
    }
    return result
}

/// What each level of red, of green and of blue becomes, clamped: 3 × 256 levels.
///
/// - Parameter gains: the factors of linear red, green and blue, at least 0.
package func litLevels(gains: SIMD3<Double>) -> [UInt8] {
    (0..<3).flatMap { channel in
        (0...255).map { level in
            let light = SRGBCurve.decode(Double(level) / 255) * gains[channel]
            return UInt8((SRGBCurve.encode(min(light, 1)) * 255).rounded())
        }
    }
}

/// The means of red, green and blue light, 0…1.
///
/// - Parameter pixels: interleaved 8-bit sRGB, at least one pixel.
package func meanLight(of pixels: [UInt8]) -> SIMD3<Double> {
    var sums = SIMD3<Double>()
    for start in stride(from: 0, to: pixels.count - 2, by: 3) {
        for channel in 0..<3 {
            sums[channel] += Double(SRGBCurve.linear[Int(pixels[start + channel])])
        }
    }
    return sums / Double(pixels.count / 3)
}
