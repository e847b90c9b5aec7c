import CColorScience
import ColorScience
import ImageIO

/// Gives the lightness of frames of one format, at the size at which a network sees them.
package final class FrameLightness: Sendable {
    private let format: FrameFormat
    private let resampler: PlaneResampler
    private let table: [Float]

    /// The steps of the table of lightness: far finer than 10 bits.
    private static let steps = 8192

    package init(_ format: FrameFormat, width: Int, height: Int) {
        self.format = format
        resampler = PlaneResampler(
            from: (format.width, format.height), to: (width, height), filter: .bicubic)
        table = (0...Self.steps).map {
            Float(LumaColors.lightness(luma: Double($0) / Double(Self.steps)))
        }
    }

    /// L in 0…100, row by row from the top.
    package func lightness(of frame: Frame) -> [Float] {
        let (width, height) = (resampler.width, resampler.height)
        var result = [Float](repeating: 0, count: width * height)
        var sums = [Float](repeating: 0, count: format.width)
        let zeros = sums
        let levels = format.levels
        let scale = Float(Double(Self.steps) / (levels.white - levels.black))
        for row in 0..<height {
            sums = zeros
            accumulate(frame.luma, resampler.window(ofRow: row), &sums)
            result.withUnsafeMutableBufferPointer {
                resampler.resizeRows(sums, into: $0.baseAddress! + row * width, count: 1)
            }
        }
        for index in result.indices {
            let step = (result[index] - Float(levels.black)) * scale
            result[index] = table[Int(min(max(step, 0), Float(Self.steps)) + 0.5)]
        }
        return result
    }

    private func accumulate(
        _ luma: Plane, _ window: (start: Int, weights: ArraySlice<Float>), _ sums: inout [Float]
    ) {
        luma.bytes.withUnsafeBytes { bytes in
            for (index, weight) in window.weights.enumerated() where weight != 0 {
                let row = bytes.baseAddress! + (window.start + index) * luma.bytesPerRow
                if format.bytesPerSample == 1 {
                    cs_accumulate_8(
                        row.assumingMemoryBound(to: UInt8.self), weight, &sums, format.width)
                } else {
                    cs_accumulate_16(
                        row.assumingMemoryBound(to: UInt16.self), weight, &sums, format.width,
                        format.highest)
                }
            }
        }
    }
}
