import Glibc

/// The peak signal-to-noise ratio in dB; infinite for equal values.
///
/// - Parameter peak: The largest possible value, for example 255 or 1.
/// - Throws: `ColorScienceError` when the counts differ or are zero.
package func psnr(_ first: [UInt8], _ second: [UInt8], peak: Double = 255) throws -> Double {
    try ColorScienceError.requireSameCount("PSNR", first.count, second.count)
    return psnr(
        squaredDifferences: squaredDifferences(first, second), count: first.count, peak: peak)
}

/// The sum of squared differences.
///
/// - Precondition: there is the same number of both.
package func squaredDifferences(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var sum = 0
    for index in 0..<first.count {
        let difference = Int(first[index]) - Int(second[index])
        sum += difference * difference
    }
    return sum
}

/// The peak signal-to-noise ratio in dB of `count` values, from the sum of their squared
/// differences.
package func psnr(squaredDifferences sum: Int, count: Int, peak: Double = 255) -> Double {
    decibels(peak: peak, meanSquare: Double(sum) / Double(count))
}

/// The peak signal-to-noise ratio in dB of float values; infinite for equal values.
///
/// - Parameter peak: The largest possible value, for example 220 for an ab channel.
/// - Throws: `ColorScienceError` when the counts differ or are zero.
package func psnr(_ first: [Float], _ second: [Float], peak: Double) throws -> Double {
    try ColorScienceError.requireSameCount("PSNR", first.count, second.count)
    var sum = 0.0
    for index in 0..<first.count {
        let difference = Double(first[index]) - Double(second[index])
        sum += difference * difference
    }
    return decibels(peak: peak, meanSquare: sum / Double(first.count))
}

private func decibels(peak: Double, meanSquare: Double) -> Double {
    10 * log10(peak * peak / meanSquare)
}

/// The colorfulness of an image (Hasler and Süsstrunk 2003): 0 for gray, above 80 for vivid colors.
///
/// √(σ²rg + σ²yb) + 0.3 √(μ²rg + μ²yb), with rg = R − G and yb = ½(R + G) − B, both signed.
///
/// - Parameter pixels: Interleaved 8-bit RGB.
/// - Throws: `ColorScienceError` if there are no pixels.
package func colorfulness(ofRGB pixels: [UInt8]) throws -> Double {
    try colorfulness(ofRGB: pixels) { $0 }
}

private func colorfulness(ofRGB pixels: [UInt8], _ opponent: (Int) -> Int) throws -> Double {
    guard pixels.count >= 3 else {
        throw ColorScienceError(measure: "colorfulness", problem: "the image is empty")
    }
    var redGreen = Moments()
    var yellowBlue = Moments()
    for index in stride(from: 0, to: pixels.count - 2, by: 3) {
        let red = Int(pixels[index])
        let green = Int(pixels[index + 1])
        redGreen.add(opponent(2 * (red - green)))
        yellowBlue.add(opponent(red + green - 2 * Int(pixels[index + 2])))
    }
    let spread = (redGreen.variance + yellowBlue.variance).squareRoot()
    return spread + 0.3 * hypot(redGreen.mean, yellowBlue.mean)
}

/// Colorfulness as BasicSR, and so DDColor, computes it: of the absolute values of rg and yb, which
/// differs from the definition.
///
/// - Parameter pixels: Interleaved 8-bit RGB.
/// - Throws: `ColorScienceError` if there are no pixels.
package func basicSRColorfulness(ofRGB pixels: [UInt8]) throws -> Double {
    try colorfulness(ofRGB: pixels) { abs($0) }
}

/// Exact sums of values passed as their doubles, so that halves are integers.
private struct Moments {
    private var count = 0
    private var sum = 0
    private var squares = 0

    mutating func add(_ doubled: Int) {
        count += 1
        sum += doubled
        squares += doubled * doubled
    }

    var mean: Double { Double(sum) / Double(2 * count) }

    var variance: Double { max(Double(squares) / Double(4 * count) - mean * mean, 0) }
}
