import CRetintColor
import RetintColor
import RetintImages

/// Colors frames of one format, without changing Y'.
package final class FramePainter: Sendable {
    /// The format of the frames.
    package let format: FrameFormat
    private let coloredFormat: FrameFormat
    private let colors: LumaColors
    private let resampler: PlaneResampler

    /// - Parameters:
    ///   - format: the format of the frames.
    ///   - width: the width of the estimated colors.
    ///   - height: the height of the estimated colors.
    package init(_ format: FrameFormat, width: Int, height: Int) {
        self.format = format
        coloredFormat = format.colored
        let (red, blue) = format.matrix.weights
        colors = LumaColors(
            red: red, blue: blue, primaries: format.matrix == .bt2020 ? .bt2020 : .bt709,
            luma: format.lumaTable(samples: coloredFormat.lumaPerChroma))
        resampler = PlaneResampler(
            from: (width, height),
            to: (coloredFormat.chromaWidth, coloredFormat.chromaHeight), filter: .bilinear)
    }

    /// The frame with new Cb and Cr.
    ///
    /// - Parameters:
    ///   - frame: a frame in ``format``.
    ///   - a: the estimated a, row by row, at the size given to the initializer.
    ///   - b: the estimated b.
    package func colored(_ frame: Frame, a: [Float], b: [Float]) throws(FrameError) -> Frame {
        precondition(frame.format == format)
        let (width, height) = (coloredFormat.chromaWidth, coloredFormat.chromaHeight)
        let bytes = coloredFormat.bytesPerSample
        var cb = Frame.Plane(
            bytes: [UInt8](repeating: 0, count: width * height * bytes), bytesPerRow: width * bytes)
        var cr = cb
        let wideA = resampler.widened(a), wideB = resampler.widened(b)
        var row = ChromaRow(width: width)
        for index in 0..<height {
            row.sum(frame.luma, of: coloredFormat, row: index)
            row.blend(resampler, wideA, wideB, row: index)
            row.color(colors)
            row.store(coloredFormat, into: &cb.bytes, &cr.bytes, at: index * cb.bytesPerRow)
        }
        return try Frame(coloredFormat, luma: frame.luma, cb: cb, cr: cr)
    }
}

extension FrameFormat {
    /// The columns and rows of luma samples that one color sample belongs to.
    package var lumaPerChroma: (columns: Int, rows: Int) {
        switch chroma {
        case .mono, .yuv444: (1, 1)
        case .yuv422: (2, 1)
        case .yuv420: (2, 2)
        }
    }

    /// The levels of black and white in Y', and of no color and half of the range of Cb and Cr.
    package var levels: (black: Double, white: Double, neutral: Double, chroma: Double) {
        let one = Double(1 << (bitDepth - 8)), highest = Double(1 << bitDepth) - 1
        return range == .full
            ? (0, highest, 128 * one, highest) : (16 * one, 235 * one, 128 * one, 224 * one)
    }

    /// The largest level of a sample.
    var highest: UInt16 { UInt16(1 << bitDepth) - 1 }

    /// Y' in 0…1 of each sum of as many luma samples as one color sample has.
    func lumaTable(samples: (columns: Int, rows: Int)) -> [Double] {
        let count = samples.columns * samples.rows
        return (0...Int(highest) * count).map { sum in
            let value = (Double(sum) / Double(count) - levels.black) / (levels.white - levels.black)
            return min(max(value, 0), 1)
        }
    }
}

/// One row of color samples during the computation.
private struct ChromaRow {
    private var sums: [UInt16]
    private var a, b, cb, cr: [Float]

    init(width: Int) {
        sums = [UInt16](repeating: 0, count: width)
        a = [Float](repeating: 0, count: width)
        (b, cb, cr) = (a, a, a)
    }

    /// Sums the luma samples of each color sample. Beyond the last row, it is repeated.
    mutating func sum(_ luma: Frame.Plane, of format: FrameFormat, row: Int) {
        let block = format.lumaPerChroma
        let first = row * block.rows, next = min(first + block.rows - 1, format.height - 1)
        let columns = Int32(block.columns), rows = Int32(block.rows)
        luma.bytes.withUnsafeBytes { bytes in
            let start = bytes.baseAddress!
            let upper = start + first * luma.bytesPerRow, lower = start + next * luma.bytesPerRow
            if format.bytesPerSample == 1 {
                cs_sums_8(
                    upper.assumingMemoryBound(to: UInt8.self),
                    lower.assumingMemoryBound(to: UInt8.self), columns, rows, &sums, format.width)
            } else {
                cs_sums_16(
                    upper.assumingMemoryBound(to: UInt16.self),
                    lower.assumingMemoryBound(to: UInt16.self), columns, rows, &sums, format.width,
                    format.highest)
            }
        }
    }

    /// Interpolates a and b.
    mutating func blend(
        _ resampler: PlaneResampler, _ wideA: [Float], _ wideB: [Float], row: Int
    ) {
        resampler.blendRows(wideA, forRow: row, into: &a)
        resampler.blendRows(wideB, forRow: row, into: &b)
    }

    mutating func color(_ colors: LumaColors) {
        sums.withUnsafeBufferPointer { sums in
            colors.chroma(sums, a: a, b: b, cb: &cb, cr: &cr)
        }
    }

    /// Writes the levels of the row.
    func store(
        _ format: FrameFormat, into blue: inout [UInt8], _ red: inout [UInt8], at offset: Int
    ) {
        store(cb, format, into: &blue, at: offset)
        store(cr, format, into: &red, at: offset)
    }

    private func store(
        _ values: [Float], _ format: FrameFormat, into bytes: inout [UInt8], at offset: Int
    ) {
        let levels = format.levels
        let (scale, neutral) = (Float(levels.chroma), Float(levels.neutral))
        // Full range rounds ½ to one level above the highest.
        let highest = min(neutral + scale / 2, Float(format.highest))
        bytes.withUnsafeMutableBytes { bytes in
            let target = bytes.baseAddress! + offset
            if format.bytesPerSample == 1 {
                cs_levels_8(
                    values, target.assumingMemoryBound(to: UInt8.self), values.count, scale,
                    neutral, max(neutral - scale / 2, 0), highest)
            } else {
                cs_levels_16(
                    values, target.assumingMemoryBound(to: UInt16.self), values.count, scale,
                    neutral, max(neutral - scale / 2, 0), highest)
            }
        }
    }
}
