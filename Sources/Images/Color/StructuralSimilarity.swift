/// The mean structural similarity (SSIM, Wang et al. 2004) of two interleaved 8-bit images.
///
/// Uniform 7×7 windows inside the image, sample covariance, K1 = 0.01, K2 = 0.03, range 255;
/// the mean over the channels.
///
/// - Parameters:
///   - width: The width of both images in pixels.
///   - height: The height of both images in pixels.
///   - channels: The values per pixel, 3 for RGB.
/// - Throws: `ColorScienceError` when the sizes differ, do not match the data or are below 7×7.
package func structuralSimilarity(
    _ first: [UInt8], _ second: [UInt8], width: Int, height: Int, channels: Int = 3
) throws -> Double {
    try ColorScienceError.requireSameCount("SSIM", first.count, second.count)
    let window = SSIMWindow.side
    guard width >= window, height >= window, channels > 0 else {
        throw ColorScienceError(
            measure: "SSIM",
            problem: "\(width)×\(height) is too small; both sides must be at least \(window)")
    }
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, first.count / channels == pixels, first.count % channels == 0 else {
        throw ColorScienceError(
            measure: "SSIM",
            problem: "\(first.count) values are not \(width)×\(height) of \(channels) channels")
    }
    let comparison = SSIMComparison(
        first: first, second: second, width: width, height: height, channels: channels)
    let sum = (0..<channels).reduce(0.0) { $0 + comparison.mean(channel: $1) }
    return sum / Double(channels)
}

private struct SSIMComparison {
    let first: [UInt8]
    let second: [UInt8]
    let width: Int
    let height: Int
    let channels: Int

    /// Slides the window down and across: each column keeps the sums of seven rows.
    func mean(channel: Int) -> Double {
        var columns = [SSIMWindow](repeating: SSIMWindow(), count: width)
        var sum = 0.0
        for row in 0..<height {
            addRow(row, channel: channel, sign: 1, to: &columns)
            if row >= SSIMWindow.side {
                addRow(row - SSIMWindow.side, channel: channel, sign: -1, to: &columns)
            }
            if row >= SSIMWindow.side - 1 { sum += rowSum(columns) }
        }
        let margin = SSIMWindow.side - 1
        return sum / Double((width - margin) * (height - margin))
    }

    private func addRow(_ row: Int, channel: Int, sign: Int32, to columns: inout [SSIMWindow]) {
        var index = row * width * channels + channel
        for column in 0..<width {
            columns[column].add(first[index], second[index], sign: sign)
            index += channels
        }
    }

    private func rowSum(_ columns: [SSIMWindow]) -> Double {
        var window = SSIMWindow()
        var sum = 0.0
        for column in 0..<width {
            window.sums &+= columns[column].sums
            if column >= SSIMWindow.side {
                window.sums &-= columns[column - SSIMWindow.side].sums
            }
            if column >= SSIMWindow.side - 1 { sum += window.similarity }
        }
        return sum
    }
}

/// Exact sums over a window: x, y, x² + y², xy. The largest, 2·49·255², is far below 2³¹.
private struct SSIMWindow {
    static let side = 7
    var sums = SIMD4<Int32>()

    @inline(__always)
    mutating func add(_ first: UInt8, _ second: UInt8, sign: Int32) {
        let x = Int32(first)
        let y = Int32(second)
        sums &+= sign &* SIMD4(x, y, x &* x &+ y &* y, x &* y)
    }

    var similarity: Double {
        let area = Double(Self.side * Self.side)
        let sample = area / (area - 1)
        let c1 = (0.01 * 255) * (0.01 * 255)
        let c2 = (0.03 * 255) * (0.03 * 255)
        let values = SIMD4<Double>(sums) / area
        let product = values.x * values.y
        let squares = values.x * values.x + values.y * values.y
        let covariance = sample * (values.w - product)
        let variances = sample * (values.z - squares)
        return (2 * product + c1) * (2 * covariance + c2) / ((squares + c1) * (variances + c2))
    }
}
